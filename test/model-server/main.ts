/**
 * The server as a program, for walks by hand:
 *
 *   node test/model-server/main.ts --port 0 --script replies.json
 *
 * Prints its base URLs on stdout, one line per request on stderr, and ends on SIGINT or SIGTERM.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { text } from "./reply.ts";
import type { ModelRequest } from "./request.ts";
import { parseScriptFile, type ScriptFile } from "./script-file.ts";
import { type ModelServer, startModelServer } from "./server.ts";

const usage = "usage: main.ts [--port N] [--script FILE.json] [--key KEY] [--helper TEXT] [--quiet]";

/** Without a script, the server says back what it was told. */
const echo: ScriptFile = {
  script: (request) => text(`You said: ${request.lastUserText}`),
  helperDefault: false,
};

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "0" },
      script: { type: "string" },
      key: { type: "string" },
      helper: { type: "string" },
      quiet: { type: "boolean", default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`not a port: ${values.port}`);
  const file = values.script === undefined ? echo : parseScriptFile(await readFile(values.script, "utf8"));
  await using server = await startModelServer({
    script: file.script,
    helperDefault: values.helper ?? file.helperDefault,
    port,
    ...(values.key === undefined ? {} : { apiKey: values.key }),
  });
  process.stdout.write(`anthropic ${server.anthropicBaseUrl}\nopenai ${server.openaiBaseUrl}\n`);
  const stop = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const watch = values.quiet ? undefined : server.waitFor(reporter(server)).catch(() => {});
  await stop;
  await server.close();
  await watch;
}

/** A predicate that never holds: the server asks it after every event, and it prints what is new. */
function reporter(server: ModelServer): () => boolean {
  const lists = [
    (from: number) => server.requests.slice(from).map(describe),
    (from: number) =>
      server.sideRequests.slice(from).map(({ status, method, path }) => `${status} ${method} ${path}`),
    (from: number) =>
      server.rejected.slice(from).map(({ status, message }) => `refused ${status}: ${message}`),
    (from: number) => server.unexpected.slice(from).map(({ reason }) => `unexpected: ${reason}`),
  ].map((lines) => ({ lines, printed: 0 }));
  return () => {
    for (const list of lists) {
      const lines = list.lines(list.printed);
      for (const line of lines) say(line);
      list.printed += lines.length;
    }
    return false;
  };
}

function describe(request: ModelRequest): string {
  const { dialect, model, messages, tools, lastUserText } = request;
  const asked = JSON.stringify(lastUserText.slice(0, 80));
  return `${dialect} ${model} messages=${messages.length} tools=${tools.length} ${asked}`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 1;
}
