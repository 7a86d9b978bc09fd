import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Fault, messageOf } from "../../../abi/errors.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import { type Args, countFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { Console } from "../../console.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import type { Host } from "../../host/host.ts";
import { invalid } from "../../screen/errors.ts";
import { reportLines, Showing, type ShownRecord } from "../../screen/replay-lines.ts";
import { oneLine } from "../../screen/text/json.ts";

const USAGE = "crux replay <pid|file> [--show] [--to <n>]";

/** Runs a process again from its records, or prints what a client saw of it. */
export const replay: Command = {
  flags: { verify: { type: "boolean" }, show: { type: "boolean" }, to: { type: "string" } },
  run,
};

type Wanted = { readonly pid: number } | { readonly path: string };

async function run(call: Call): Promise<number> {
  const { args, host } = call;
  const wanted = wantedOf(args, host);
  const to = args.flags.has("to") ? countFlag(args, "to") : undefined;
  if (args.flags.has("show") && args.flags.has("verify"))
    throw invalid("either --show or --verify, not both", USAGE);
  return args.flags.has("show") ? show(call, wanted, to) : verify(call, wanted, to);
}

/** A number is a pid; a file of that name is written as ./3. */
function wantedOf({ words }: Args, host: Host): Wanted {
  const [text, ...more] = words;
  if (text === undefined) throw invalid("a pid or a file is missing", USAGE);
  if (more.length > 0) throw invalid(`one at a time: ${words.join(" ")}`, USAGE);
  return /^\d{1,15}$/.test(text) ? { pid: Number(text) } : { path: resolve(host.cwd, text) };
}

/** Ctrl-C closes the connection, which ends the replay. */
async function verify({ console, host }: Call, wanted: Wanted, to: number | undefined): Promise<number> {
  const client = await host.daemon.ensure();
  const interrupted = new AbortController();
  const unlisten = host.interrupts.listen(() => interrupted.abort());
  try {
    const request = { ...wanted, ...(to === undefined ? {} : { to }) };
    const report = await client.request("process.replay", request, interrupted.signal);
    await tell(console, report);
    return report.outcome === "same" ? 0 : 1;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    throw error;
  } finally {
    unlisten();
    client.close();
  }
}

async function tell(console: Console, report: Result<"process.replay">): Promise<void> {
  switch (console.mode) {
    case "json":
      if (report.outcome === "same") return console.data(report);
      return console.line(oneLine({ ok: false, error: errorOf(report), data: report }));
    case "quiet":
      return;
    case "verbose":
    case "default": {
      const text = reportLines(report).join("\n");
      if (report.outcome === "same") await console.line(text);
      else await console.errorLine(console.errorPaint.red(text));
    }
  }
}

function errorOf(report: Result<"process.replay">) {
  const code = report.outcome === "differs" ? "CONFLICT" : "UNAVAILABLE";
  return { code, message: reportLines(report)[0]?.replace(/^\[replay\] /, "") };
}

async function show({ console, host }: Call, wanted: Wanted, to: number | undefined): Promise<number> {
  const showing = new Showing(console.paint, to);
  for await (const record of "path" in wanted ? fromFile(wanted.path) : fromDaemon(host, wanted.pid)) {
    for (const line of showing.take(record)) {
      if (console.mode === "json") await console.line(oneLine(line));
      else if (console.mode !== "quiet" || line.what === "reply") await console.line(line.text);
    }
    if (showing.isOver) break;
  }
  return 0;
}

async function* fromDaemon(host: Host, pid: number): AsyncGenerator<ShownRecord> {
  const client = await host.daemon.ensure();
  const stream = await client.stream("process.records", { pid });
  try {
    for await (const { type, payload } of stream.lines) {
      if (type === "eof") return;
      if (type === "event") yield payload as ShownRecord;
    }
    throw daemonVanished();
  } finally {
    stream.close();
  }
}

async function* fromFile(path: string): AsyncGenerator<ShownRecord> {
  const input = createReadStream(path);
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      number++;
      if (line.trim() !== "") yield recordOf(path, number, line);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    const errno = (error as { code?: string }).code;
    if (errno === "ENOENT")
      throw new Fault({ code: "NOT_FOUND", message: `file not found: ${path}`, cause: error });
    throw new Fault({
      code: "UNAVAILABLE",
      message: `cannot read ${path}: ${errno ?? messageOf(error)}`,
      cause: error,
    });
  } finally {
    input.destroy();
  }
}

function recordOf(path: string, number: number, line: string): ShownRecord {
  try {
    const record = JSON.parse(line) as Partial<ShownRecord> | null;
    if (typeof record?.kind === "string" && typeof record.seq === "number") return record as ShownRecord;
  } catch {
    // reported below
  }
  throw invalid(`line ${number} is not a record: ${path}`, "crux journal <pid> --json > file writes one");
}
