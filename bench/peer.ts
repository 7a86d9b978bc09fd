/**
 * The same streamed replies in the terminal of Crux and in that of a peer, whose package npm installs into a temporary folder:
 *   node bench/peer.ts        (npm run build first; by hand, as it needs the registry)
 * Bytes, and those of them that steer the terminal, for each piece of a reply, and how often the screen was cleared. The peer speaks
 * to the same server on loopback, through a model file of its own, with what it asks of the network at its start turned off.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { modelEnv } from "../test/harness/model.ts";
import { TerminalWindow } from "../test/harness/terminal.ts";
import { World } from "../test/harness/world.ts";
import { type Reply, text } from "../test/model-server/reply.ts";
import { type ModelServer, startModelServer } from "../test/model-server/server.ts";
import { ANEW, PER_SECOND, STEERING, TICK_MS } from "./parts/escapes.ts";
import { NODE } from "./parts/place.ts";
import { printTable, type Row } from "./table.ts";

const PEER = "@mariozechner/pi-coding-agent@0.73.1";
const PIECE = 8;
const PIECES = 1_000;
const END = "That is the end of it.";
const SIZE = { columns: 100, rows: 40 };

/** Far more than a screen: what stands above it must not be drawn again. */
const PROSE = "word by word it comes, ".repeat(400);
const MARKDOWN =
  "## Part\n\nA paragraph with `code`, **bold** words and 中文字符 that wraps somewhere.\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\n".repeat(
    80,
  );

function stream(words: string): Reply {
  const whole = `${words.slice(0, PIECES * PIECE - END.length - 2)}\n\n${END}`;
  let reply = text(whole).fragment(PIECE);
  const atOnce = (PER_SECOND * TICK_MS) / 1000;
  for (let piece = 0; piece < PIECES; piece += atOnce)
    reply = reply.delay(TICK_MS, { afterEvents: piece + 2 });
  return reply;
}

interface Terminal {
  readonly name: string;
  readonly args: readonly string[];
  /** Absent: that of Crux. */
  readonly command?: string;
  /** Shown once it takes keys. */
  readonly ready: string;
  settle(world: World, server: ModelServer): void;
}

const crux = (screen: string): Terminal => ({
  name: `crux, ${screen}`,
  args: [],
  ready: "% context",
  settle: (world) => world.settings({ ui: { screen } }),
});

const peer = (command: string): Terminal => ({
  name: PEER,
  args: ["--provider", "bench", "--model", "m", "--no-session"],
  command,
  ready: "pi v",
  settle: ({ env }, server) => {
    const dir = join(env.HOME ?? "", ".pi/agent");
    mkdirSync(dir, { recursive: true });
    const own = { baseUrl: server.openaiBaseUrl, api: "openai-completions", apiKey: "bench" };
    writeFileSync(
      join(dir, "models.json"),
      JSON.stringify({ providers: { bench: { ...own, models: [{ id: "m" }] } } }),
    );
    Object.assign(env, { PI_OFFLINE: "1", PATH: `${dirname(NODE)}:${env.PATH}` });
  },
});

async function measured({ name, args, command, ready, settle }: Terminal, words: string): Promise<Row> {
  const server = await startModelServer({ script: () => stream(words), validate: false });
  const world = new World();
  Object.assign(world.env, modelEnv(server));
  settle(world, server);
  const window = new TerminalWindow(world, args, { ...SIZE, ...(command === undefined ? {} : { command }) });
  try {
    await window.shows(ready);
    const from = window.bytes.length;
    window.type("go\r");
    await window.shows(END);
    const bytes = window.bytes.slice(from);
    const each = (count: number): string => (count / PIECES).toFixed(1);
    const steering = (bytes.match(STEERING) ?? []).join("").length;
    return [name, each(Buffer.byteLength(bytes)), each(steering), String((bytes.match(ANEW) ?? []).length)];
  } finally {
    window.pty.kill("SIGKILL");
    await window[Symbol.asyncDispose]();
    await world.close().catch(() => {});
    await server.close();
  }
}

const dir = mkdtempSync(join(tmpdir(), "crux-bench-peer-"));
try {
  writeFileSync(join(dir, "package.json"), '{"private":true}');
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  const { status } = spawnSync("npm", ["install", ...flags, PEER], { cwd: dir, stdio: "inherit" });
  if (status !== 0) throw new Error(`npm installs no ${PEER}`);
  const terminals = [crux("inline"), crux("full"), peer(join(dir, "node_modules/.bin/pi"))];
  for (const [title, words] of [
    ["prose", PROSE],
    ["Markdown", MARKDOWN],
  ] as const) {
    const rows: Row[] = [];
    for (const terminal of terminals) rows.push(await measured(terminal, words));
    printTable([`${title}, ${PIECES} pieces`, "bytes for a piece", "of them steer", "screens cleared"], rows);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
// what a peer leaves behind its terminal keeps nothing here
process.exit();
