import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../../abi/errors.ts";
import type { AnchorWire, VerifyWire } from "../../../abi/journal/wire.ts";
import { textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { invalid, streamFailure } from "../../screen/errors.ts";
import { verifyScreen } from "../../screen/journal-findings.ts";
import { reportOf, untilInterrupted } from "./journal-stream.ts";

/** Checks that the journal is unchanged since it was written, and prints the roots that prove it. */
export const audit: Command = { flags: { against: { type: "string" } }, run };

const USAGE = "crux audit verify [--against <file>], crux audit roots";
/** The most roots of one request; of a longer file the newest are sent. */
const MAX_ROOTS = 40_000;
const EXIT = { holds: 0, broken: 1, notVerified: 3 } as const;

async function run(call: Call): Promise<number> {
  const [verb, ...more] = call.args.words;
  if (more[0] !== undefined) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  if (verb === "roots") return untilInterrupted(call, (signal) => roots(call, signal));
  if (verb !== "verify")
    throw invalid(verb === undefined ? "a verb is missing" : `unknown argument: ${verb}`, USAGE);
  try {
    return await untilInterrupted(call, (signal) => verify(call, signal));
  } catch (error) {
    await call.console.fail(error);
    return EXIT.notVerified;
  }
}

async function verify(call: Call, signal: AbortSignal): Promise<number> {
  const { args, console, host } = call;
  const file = textFlag(args, "against");
  const against = file === undefined ? {} : { against: readRoots(resolve(host.cwd, file)) };
  const client = await host.daemon.ensure(signal);
  const stream = await client.stream("journal.verify", against, signal);
  try {
    const report = await reportOf<VerifyWire>(call, "audit", stream.lines);
    if (console.mode === "json") await console.data(report);
    else if (console.mode !== "quiet") await console.line(verifyScreen(report, console.paint));
    return report.broken === null ? EXIT.holds : EXIT.broken;
  } finally {
    stream.close();
  }
}

async function roots({ console, host }: Call, signal: AbortSignal): Promise<number> {
  const client = await host.daemon.ensure(signal);
  const stream = await client.stream("journal.roots", {}, signal);
  try {
    for await (const { type, payload } of stream.lines) {
      if (type === "eof") return 0;
      if (type === "error") throw streamFailure(payload);
      if (type === "record") await console.line(rootLine(payload as AnchorWire, console.mode));
    }
    throw daemonVanished();
  } finally {
    stream.close();
  }
}

function rootLine(anchor: AnchorWire, mode: string): string {
  if (mode === "json") return JSON.stringify(anchor);
  if (mode === "quiet") return anchor.root;
  return `${new Date(anchor.at).toISOString()}  lsn ${String(anchor.lsn).padStart(8)}  ${anchor.root}`;
}

/** Newest last, as in `crux audit roots --json` and in the file of `audit.anchor`. */
function readRoots(path: string): AnchorWire[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(`--against: ${messageOf(error)}`);
  }
  const lines = text.split("\n").map((line, at) => ({ line: line.trim(), at: at + 1 }));
  const full = lines.filter(({ line }) => line !== "");
  if (full.length === 0) throw invalid(`--against: ${path} has no roots`);
  return full.slice(-MAX_ROOTS).map(({ line, at }) => rootOf(line, `${path}:${at}`));
}

function rootOf(line: string, place: string): AnchorWire {
  try {
    const { lsn, root, previous, at } = JSON.parse(line) as Partial<AnchorWire>;
    const isHash = (value: unknown): value is string =>
      typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
    if (Number.isSafeInteger(lsn) && isHash(root) && (previous === "" || isHash(previous)))
      return { lsn: lsn as number, root, previous, at: typeof at === "number" ? at : 0 };
  } catch {
    // reported below
  }
  throw invalid(`--against: ${place}: not a root`, "crux audit roots --json prints them");
}
