// Bundles the page into one HTML file: node build.mjs --outfile viewer.html
// Script and style are inlined, and the page's own policy (CSP) lets nothing run but them, by their
// hashes, and nothing be fetched but from where the page came from.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const MARKER = "<!--talus-data-->";
// Names of XML vocabularies, and addresses in messages of the movie writer: nobody ever fetches them.
const NEVER_FETCHED = [
    /^http:\/\/www\.w3\.org\/(1999\/xhtml|2000\/svg|1999\/xlink)/,
    /^https:\/\/(www\.w3\.org\/TR\/webcodecs-|www\.webmproject\.org\/vp9\/|aomediacodec\.github\.io\/)/,
];

const here = dirname(fileURLToPath(import.meta.url));
const { outfile } = parseArgs({ options: { outfile: { type: "string", default: "viewer.html" } } }).values;

async function bundle() {
    const result = await build({
        absWorkingDir: here,
        entryPoints: ["src/main.ts"],
        bundle: true,
        minify: true,
        format: "iife",
        target: ["es2022"],
        legalComments: "none",
        charset: "ascii",
        outdir: join(here, "out"), // nothing is written there
        write: false,
        define: { "process.env.NODE_ENV": '"production"' },
    });
    const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
    // What would end the element early, or pass for the marker, may not stand in the script.
    return { script: text(".js").replaceAll("</script", "<\\/script").trim(), style: text(".css").trim() };
}

function hash(text) {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function check(page) {
    if (page.split(MARKER).length !== 2) throw new Error(`the marker ${MARKER} must be there exactly once`);
    const foreign = [...page.matchAll(/https?:\/\/[^\s"'`<>)\\]+/g)].map((m) => m[0])
        .filter((url) => !NEVER_FETCHED.some((known) => known.test(url)));
    if (foreign.length > 0) throw new Error(`addresses outside the machine: ${[...new Set(foreign)].join(" ")}`);
}

const { script, style } = await bundle();
const policy = [
    "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "connect-src 'self'",
    "img-src data: blob:", "base-uri 'none'", "form-action 'none'",
].join("; ");
const parts = { "@CSP@": policy, "@STYLE@": style, "@SCRIPT@": script };
const page = readFileSync(join(here, "src/page.html"), "utf8").replace(/@[A-Z]+@/g, (name) => parts[name]);
check(page);
mkdirSync(dirname(resolve(outfile)), { recursive: true });
writeFileSync(outfile, page);
