// A headless Chromium that obeys: reads one command a line as JSON from standard input and answers
// each with one line of JSON, {"value": ...} or {"error": "..."}. tests/test_viewer.py is its master.
//
//   {"do": "open", "url": U, "offline": B, "width": W, "height": H}
//                                             a page; waits until it shows a frame or says why not
//   {"do": "eval", "code": C}                 value of the expression C in the page (may be a promise)
//   {"do": "until", "code": C}                wait until C is true
//   {"do": "click", "x": X, "y": Y}           a real click of the mouse
//   {"do": "drag", "from": [X, Y], "to": [X, Y], "holding": K}   with a key held down, if one is named
//   {"do": "key", "key": K}
//   {"do": "picture", "path": P}              what is seen, as PNG
//   {"do": "report"}                          addresses asked for and complaints since the page opened
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const PATIENCE = 60000; // ms
const SHOWS = "(window.talusViewer && window.talusViewer.state().frame >= 0) || document.querySelector('.failure') !== null";

const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    protocolTimeout: PATIENCE,
    // Without a graphics processor WebGL is drawn by SwiftShader. In a container Chromium's own
    // sandbox cannot be set up; only pages of this test are opened.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
let page;
let requests = [];
let complaints = [];

async function open({ url, offline, width = 1200, height = 800 }) {
    await page?.close();
    page = await browser.newPage();
    requests = [];
    complaints = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => ["error", "warn"].includes(message.type()) && complaints.push(message.text()));
    await page.setViewport({ width, height });
    await page.setOfflineMode(Boolean(offline));
    await page.goto(url);
    await until({ code: SHOWS });
}

async function until({ code }) {
    await page.waitForFunction(code, { timeout: PATIENCE, polling: 50 });
}

async function drag({ from, to, holding }) {
    if (holding) await page.keyboard.down(holding);
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 5 });
    await page.mouse.up();
    if (holding) await page.keyboard.up(holding);
}

const commands = {
    open, until, drag,
    eval: ({ code }) => page.evaluate(code),
    click: ({ x, y }) => page.mouse.click(x, y),
    key: ({ key }) => page.keyboard.press(key),
    picture: async ({ path }) => { await page.screenshot({ path }); },
    report: () => ({ requests, complaints }),
};

for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    let answer;
    try {
        answer = { value: (await commands[command.do](command)) ?? null };
    } catch (error) {
        answer = { error: String(error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
