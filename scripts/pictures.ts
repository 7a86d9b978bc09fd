/**
 * Makes the pictures in docs/pictures from real sessions: the built binary in a pty, a model that answers by a script,
 * and the screen that a person would see.
 *   npm run docs:pictures
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inTurn, modelEnv } from "../test/harness/model.ts";
import { TerminalWindow } from "../test/harness/terminal.ts";
import { World } from "../test/harness/world.ts";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { svgOf } from "./pictures/svg.ts";

const FOLDER = fileURLToPath(new URL("../docs/pictures", import.meta.url));
const SIZE = { columns: 92, rows: 30, env: { COLORTERM: "truecolor" } };

const SOURCE = `export function greet(name: string): string {
  return "Hello, " + name;
}
`;
const OLD = SOURCE.slice(0, -3);
const NEW = 'export function greet(name = "world"): string {\n  return `Hello, ${name}!`;\n';
/** What the model says it has read and written. */
const USED = { input: 5_120, output: 84 };
const ANSWER = `\`greet\` uses a template now, and greets the world when it is given nobody:

\`\`\`ts
export function greet(name = "world"): string {
  return \`Hello, \${name}!\`;
}
\`\`\`

- **Callers** need no change: the argument was required before, and every caller gives one.
- The tests pass, *3 of 3*.`;

/** The folder of this run, and what a clock has said, as they are in every run: of the same length, so that nothing moves. */
const FOLDER_SHOWN = "/home/me/projects/greeting";

function keep(window: TerminalWindow, name: string, title: string): void {
  const steady = (words: string) =>
    words.replaceAll(world.work, FOLDER_SHOWN).replaceAll(/\d(?=s {2}\S|s ·)/g, "2");
  writeFileSync(`${FOLDER}/${name}.svg`, svgOf(window.screen, { title, steady }));
  console.log(`docs/pictures/${name}.svg`);
}

const isAtRest = ({ rows }: TerminalWindow) => !rows.join("\n").includes("esc to interrupt");

process.env.TMPDIR = "/tmp";
mkdirSync(FOLDER, { recursive: true });
const world = new World();
world.settings({ ui: { reduceMotion: true } });
world.write("src/greet.ts", SOURCE);
const file_path = "src/greet.ts";
await using server = await startModelServer({
  script: inTurn(
    toolUse({ name: "view", input: { file_path } }, { text: "I look at it first." }).usage(USED),
    toolUse({ name: "edit", input: { file_path, old_string: OLD, new_string: NEW } }).usage(USED),
    text(ANSWER).usage(USED),
  ),
});
Object.assign(world.env, modelEnv(server));
{
  await using window = new TerminalWindow(world, [], SIZE);
  await window.shows("% context");
  window.type("let greet() work without a name, and use a template");
  await window.shows("use a template");
  window.type("\r");
  await window.shows("[t]ell why");
  await window.until(({ rows }) => rows.some((row) => /\(\ds ·/.test(row)), "the clock");
  keep(window, "question", "A question of Crux: an edit, with what would change");
  // a key that comes with the question is not its answer
  await new Promise((resolve) => setTimeout(resolve, 500));
  window.type("1");
  await window.shows("3 of 3");
  await window.until(isAtRest, "at rest");
  await window.until(() => (window.colourOf("export") ?? -1) !== -1, "the code has its colours");
  await window.shows("5% context");
  keep(window, "answer", "An answer in the terminal of Crux, with Markdown and coloured code");
  window.type("/");
  await window.shows(" more");
  keep(window, "commands", "The commands that the terminal of Crux offers behind a slash");
  window.type("\x03");
  await window.until(({ rows }) => !rows.join("\n").includes(" more"), "the editor is empty");
  window.type("\x1b");
  // the first Escape is one of its own only after a moment
  await new Promise((resolve) => setTimeout(resolve, 300));
  window.type("\x1b");
  await window.shows("Esc leave");
  await window.shows("restored");
  keep(window, "rewind", "The messages of a session, to go back to before one, and what would change");
  window.type("\x1b");
  await window.until(({ rows }) => !rows.join("\n").includes("Esc leave"), "the picker is closed");
  window.type("\x04");
  await window.ended();
}
await world.close();
