// Selecting grains by what holds for them: "z > 0.1 and |velocity| < 1e-3". jsep makes the tree (the
// page's policy forbids to run text as script); here it is read as a function of the row.
import jsep from "jsep";
import { type Scalar } from "./fields";

jsep.addBinaryOp("and", 2);
jsep.addBinaryOp("or", 1);
jsep.addUnaryOp("not");

const SHORT: Record<string, string> = {
    x: "position.x", y: "position.y", z: "position.z", vx: "velocity.x", vy: "velocity.y", vz: "velocity.z",
    speed: "velocity.|.|", r: "radius",
};
const FUNCTIONS: Record<string, (...x: number[]) => number> = {
    abs: Math.abs, sqrt: Math.sqrt, log: Math.log10, exp: Math.exp, sin: Math.sin, cos: Math.cos,
    min: Math.min, max: Math.max, hypot: Math.hypot, mod: (a, b) => ((a % b) + b) % b,
};
const OPERATORS: Record<string, (a: number, b: number) => number | boolean> = {
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b,
    "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
    "==": (a, b) => a === b, "===": (a, b) => a === b, "!=": (a, b) => a !== b,
    and: (a, b) => a && b, "&&": (a, b) => a && b, or: (a, b) => a || b, "||": (a, b) => a || b,
};

export interface Condition {
    /** Fields whose numbers it needs. */
    scalars: Scalar[];
    /** Whether it holds in a row, given the numbers of `scalars` in that order. */
    holds(values: Float32Array[], row: number): boolean;
}

/** Reads an expression; throws an error that says what is wrong with it. */
export function parseCondition(text: string, offered: Scalar[]): Condition {
    const scalars: Scalar[] = [];
    type Node = (values: Float32Array[], row: number) => number;
    const field = (name: string): Node => {
        const key = SHORT[name] ?? name;
        const scalar = offered.find((s) => s.key === key) ?? offered.find((s) => s.key === `${key}.|.|`);
        if (!scalar) {
            const names = [...Object.keys(SHORT).filter((s) => offered.some((o) => o.key === SHORT[s])),
                           ...new Set(offered.map((s) => s.field.replaceAll(" ", "_")))];
            throw new Error(`There is no '${name}'. There are ${names.join(", ")}.`);
        }
        let index = scalars.indexOf(scalar);
        if (index < 0) index = scalars.push(scalar) - 1;
        return (values, row) => values[index][row];
    };
    const build = (node: jsep.Expression): Node => {
        const n = node as jsep.CoreExpression;
        switch (n.type) {
            case "Literal": {
                const number = Number(n.value);
                return () => number;
            }
            case "Identifier": return field(n.name);
            case "MemberExpression":
                return field(`${(n.object as jsep.Identifier).name}.${(n.property as jsep.Identifier).name}`);
            case "UnaryExpression": {
                const inner = build(n.argument);
                if (n.operator === "-") return (v, r) => -inner(v, r);
                if (n.operator === "+") return inner;
                return (v, r) => Number(!inner(v, r));
            }
            case "BinaryExpression": {
                const act = OPERATORS[n.operator];
                if (!act) throw new Error(`'${n.operator}' means nothing here.`);
                const [left, right] = [build(n.left), build(n.right)];
                return (v, r) => Number(act(left(v, r), right(v, r)));
            }
            case "CallExpression": {
                const name = (n.callee as jsep.Identifier).name;
                const call = FUNCTIONS[name];
                if (!call) throw new Error(`There is no function '${name}'. There are ${Object.keys(FUNCTIONS).join(", ")}.`);
                const inner = n.arguments.map(build);
                return (v, r) => call(...inner.map((i) => i(v, r)));
            }
            default: throw new Error("This is not one condition, such as: z > 0.1 and speed < 0.01");
        }
    };
    let tree: jsep.Expression;
    try {
        tree = jsep(text.replace(/(?<!\|)\|\s*(\w+)\s*\|(?!\|)/g, "$1")); // |velocity| is velocity, whose magnitude is meant
    } catch (error) {
        throw new Error(`This cannot be read: ${(error as Error).message}.`);
    }
    const root = build(tree);
    return { scalars, holds: (values, row) => Boolean(root(values, row)) };
}
