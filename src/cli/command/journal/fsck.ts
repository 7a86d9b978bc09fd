import { Fault } from "../../../abi/errors.ts";
import type { CheckWire } from "../../../abi/journal/wire.ts";
import type { Args } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { invalid } from "../../screen/errors.ts";
import { checkScreen } from "../../screen/journal-findings.ts";
import { Keyboard } from "../../terminal/keyboard.ts";
import { reportOf, untilInterrupted } from "./journal-stream.ts";

/** Checks the integrity of the journal; `--repair` fixes what can be fixed. Starts no daemon. */
export const fsck: Command = {
  flags: { full: { type: "boolean" }, repair: { type: "boolean" }, yes: { type: "boolean", short: "y" } },
  run,
};

const USAGE = "crux fsck [--full] [--repair [--yes]] [pid|uuid…]";
const EXIT = { clean: 0, damage: 1, repaired: 2, notChecked: 3 } as const;

async function run(call: Call): Promise<number> {
  try {
    return await untilInterrupted(call, (signal) => check(call, signal));
  } catch (error) {
    await call.console.fail(error);
    return EXIT.notChecked;
  }
}

async function check(call: Call, signal: AbortSignal): Promise<number> {
  const { args, console, host } = call;
  for (const word of args.words) checkProcess(word);
  const isRepair = args.flags.has("repair");
  const client = await host.daemon.find(signal);
  if (client !== undefined && isRepair) throw await held(client);
  const report =
    client === undefined ? await offline(call, isRepair, signal) : await asked(call, client, signal);
  await show(call, report);
  if (report.findings.some(({ severity }) => severity === "damage")) {
    const mends = report.findings.some(({ repair }) => repair !== undefined);
    if (!isRepair && mends && console.isScreen)
      await console.line("[fsck] crux fsck --repair does what is named; the daemon must be stopped");
    return EXIT.damage;
  }
  return report.repaired === undefined ? EXIT.clean : EXIT.repaired;
}

function checkProcess(word: string): void {
  if (!/^\d{1,15}$|^[0-9a-f-]{36}$/.test(word)) throw invalid(`neither a pid nor a UUID: ${word}`, USAGE);
}

async function held(client: DaemonClient): Promise<Fault> {
  const { os_pid: pid } = await client.request("kernel.status", {});
  client.close();
  return new Fault({
    code: "CONFLICT",
    message: `a daemon (PID ${pid}) has the journal open: nothing is repaired beside it`,
    hint: "crux daemon stop",
  });
}

async function asked(call: Call, client: DaemonClient, signal: AbortSignal): Promise<CheckWire> {
  const request = { full: isFull(call.args), processes: [...call.args.words] };
  const stream = await client.stream("journal.check", request, signal);
  try {
    return await reportOf<CheckWire>(call, "fsck", stream.lines);
  } finally {
    stream.close();
  }
}

async function offline(call: Call, isRepair: boolean, signal: AbortSignal): Promise<CheckWire> {
  const words = [...(isFull(call.args) ? ["--full"] : []), ...call.args.words];
  const look = (more: readonly string[]): Promise<CheckWire> =>
    reportOf<CheckWire>(call, "fsck", call.host.daemon.offline([...more, ...words], signal));
  if (!isRepair) return look([]);
  if (!(await isAgreed(call, () => look([]), signal)))
    throw new Fault({ code: "CANCELLED", message: "not repaired" });
  return look(["--repair"]);
}

/** Shows the user what would be done, and asks. */
async function isAgreed({ args, console, host }: Call, look: () => Promise<CheckWire>, signal: AbortSignal) {
  if (args.flags.has("yes")) return true;
  if (host.stdin.isTTY !== true || host.stdout.isTTY !== true)
    throw invalid("--repair needs --yes where nobody can be asked", USAGE);
  const report = await look();
  if (!report.findings.some(({ repair }) => repair !== undefined)) return true;
  await console.line(checkScreen(report, console.paint, isFull(args)));
  await console.raw("[fsck] do what is named? [y]es [N]o ");
  using keyboard = new Keyboard(host.stdin, host.interrupts.raise);
  await keyboard.open(signal);
  const keys = await keyboard.next(signal);
  await console.line(keys === "y" ? "yes" : "no");
  return keys === "y";
}

function isFull(args: Args): boolean {
  return args.flags.has("full");
}

async function show({ args, console }: Call, report: CheckWire): Promise<void> {
  switch (console.mode) {
    case "json":
      return console.data(report);
    case "quiet": {
      const damage = report.findings.filter(({ severity }) => severity === "damage");
      const lines = damage.map(({ code, pid = "-", seq = "-" }) => `${code} ${pid} ${seq}`);
      return lines.length === 0 ? undefined : console.line(lines.join("\n"));
    }
    case "verbose":
    case "default":
      return console.line(checkScreen(report, console.paint, isFull(args)));
  }
}
