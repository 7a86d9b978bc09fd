/**
 * An MCP server for tests: `node scripted-server.ts [--flag …]` speaks JSON-RPC over its pipes, with the faults that
 * its flags choose.
 *
 *     --mute            never answers          --dead            ends at once
 *     --no-probe        ends when it is probed for the newer protocol
 *     --stubborn        ignores signals        --mute-list       never answers tools/list
 *     --many            1,000 tools in pages; --huge: 5,000    --deep   a tool nested deeply   --noisy           prints garbage beside each answer
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

type Json = Record<string, unknown>;

const flags = new Set(process.argv.slice(2));
const has = (flag: string): boolean => flags.has(`--${flag}`);

if (has("dead")) {
  process.stderr.write("cannot find its database\n");
  process.exit(4);
}
if (has("stubborn")) for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

const text = (value: string): Json => ({ content: [{ type: "text", text: value }] });
const object = (properties: Json = {}, required: string[] = []): Json => ({
  type: "object",
  properties,
  required,
});
const tools: Json[] = [
  {
    name: "echo",
    description: "Says it again.",
    inputSchema: object({ text: { type: "string" } }, ["text"]),
  },
  { name: "pid", inputSchema: object(), annotations: { readOnlyHint: true } },
  ...[
    "env",
    "fails",
    "error",
    "hang",
    "progress",
    "tick",
    "finish",
    "die",
    "garbage",
    "huge",
    "change",
    "grandchild",
    "wrong",
  ].map((name) => ({
    name,
    inputSchema: object(),
    ...(name === "wrong" && { outputSchema: object({}, ["x"]) }),
  })),
];
const resource = { uri: "file:///notes/a b.txt", name: "notes", mimeType: "text/plain" };

/** The pending call of the tool `progress`. */
let waiting: { id: unknown; progressToken: unknown } | undefined;
let ticks = 1;
/** In the place of what JSON.stringify() cannot write. */
const DEEP = "of 5,000 levels";

function send(message: Json): void {
  if (has("noisy")) process.stdout.write('this is no message\n{"half":\n[1,2]\n\n');
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`${text.replace(`"${DEEP}"`, '{"x":'.repeat(5_000) + "1" + "}".repeat(5_000))}\n`);
}

function call(name: string, args: Json, id: unknown, progressToken: unknown): Json | undefined {
  switch (name) {
    case "echo":
      return text(String(args.text));
    case "pid":
      return text(String(process.pid));
    case "env":
      return text(JSON.stringify(process.env));
    case "fails":
      return { ...text("it did not work"), isError: true };
    case "wrong":
      return { ...text("{}"), structuredContent: {} };
    case "hang":
      return undefined;
    case "progress":
      waiting = { id, progressToken };
      return undefined;
    case "tick":
      send({
        method: "notifications/progress",
        params: { progressToken: waiting?.progressToken, progress: ticks++ },
      });
      return text("ticked");
    case "finish":
      send({ id: waiting?.id, result: text("done after all") });
      return text("finished");
    case "die":
      process.stderr.write("out of memory\n");
      process.exit(3);
      break;
    case "garbage":
      process.stdout.write("garbage\n".repeat(50));
      return text("clean");
    case "huge":
      process.stdout.write("x".repeat(11 * 1024 * 1024));
      return undefined;
    case "change":
      tools.push({ name: "extra", inputSchema: object() });
      send({ method: "notifications/tools/list_changed" });
      return text("changed");
    case "grandchild": {
      const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
      return text(String(child.pid));
    }
    default:
      return undefined;
  }
}

function page(cursor: unknown): Json {
  if (has("deep")) {
    return { tools: [{ name: "deep", inputSchema: { ...object(), x: DEEP } }, ...tools] };
  }
  if (!has("many") && !has("huge")) return { tools };
  const last = has("huge") ? 4_900 : 900;
  const from = Number(cursor ?? 0);
  const found = Array.from({ length: 100 }, (_, i) => ({ name: `tool${from + i}`, inputSchema: object() }));
  return from >= last ? { tools: found } : { tools: found, nextCursor: String(from + 100) };
}

/** The response, without its id; undefined: no response. */
function answer(method: string, params: Json, id: unknown): Json | undefined {
  switch (method) {
    case "server/discover":
      if (has("no-probe")) process.exit(9);
      return failed(-32601, "Method not found");
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true }, resources: {} },
          serverInfo: { name: "scripted", version: "1" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return has("mute-list") ? undefined : { result: page(params.cursor) };
    case "tools/call": {
      const name = String(params.name);
      if (name === "error") return failed(-32000, "the disk is full");
      const { progressToken } = (params._meta ?? {}) as Json;
      const result = call(name, (params.arguments ?? {}) as Json, id, progressToken);
      return result === undefined ? undefined : { result };
    }
    case "resources/list":
      return { result: { resources: [resource] } };
    case "resources/read":
      return params.uri === resource.uri
        ? { result: { contents: [{ uri: resource.uri, text: "milk, bread" }] } }
        : failed(-32002, "Resource not found");
    default:
      return failed(-32601, "Method not found");
  }
}

function failed(code: number, message: string): Json {
  return { error: { code, message } };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { method, params = {}, id } = JSON.parse(line) as { method?: string; params?: Json; id?: unknown };
  if (method === undefined || id === undefined || has("mute")) return;
  const response = answer(method, params, id);
  if (response !== undefined) send({ id, ...response });
});
if (has("stubborn")) setInterval(() => {}, 1_000);
