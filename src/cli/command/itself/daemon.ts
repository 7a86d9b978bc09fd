import type { Result } from "../../../abi/methods/methods.ts";
import { sandboxOff } from "../../../abi/sandbox.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { invalid } from "../../screen/errors.ts";
import { seconds } from "../../screen/text/elapsed.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { stopDaemon } from "./daemon-stop.ts";

export const daemon: Command = { flags: { force: { type: "boolean" }, normal: { type: "boolean" } }, run };

type Status = Result<"kernel.status">;
type Verb = (call: Call) => Promise<number>;

const VERBS: Readonly<Record<string, Verb>> = { start, stop, status, restart };

async function run(call: Call): Promise<number> {
  const usage = `crux daemon ${Object.keys(VERBS).join("|")}`;
  const [name, ...more] = call.args.words;
  if (name === undefined) throw invalid("a verb is missing", usage);
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined) throw invalid(`unknown argument: ${name}`, usage);
  if (more.length > 0) throw invalid(`unknown argument: ${more[0]}`, usage);
  return verb(call);
}

async function start(call: Call): Promise<number> {
  if (call.args.flags.has("normal")) await leaveSafeMode(call);
  const found = await ask(await call.host.daemon.ensure());
  await show(call, found, `[daemon] running (PID ${found.os_pid})`);
  return 0;
}

/** Stops a daemon in safe mode, so that the next starts with its crash count reset. A healthy daemon keeps running. */
async function leaveSafeMode(call: Call): Promise<void> {
  const client = await call.host.daemon.find();
  if (client !== undefined && (await ask(client)).safe_mode !== true) return;
  if (client !== undefined) await stopDaemon(call);
  await call.host.daemon.forgetDeaths();
}

async function status(call: Call): Promise<number> {
  const client = await call.host.daemon.find();
  if (client === undefined) {
    await showNone(call, "[daemon] not running");
    return 1;
  }
  const found = await ask(client);
  const { os_pid, version, processes, connections, uptime_ms } = found;
  const facts = [
    `running (PID ${os_pid})`,
    `version: ${version}`,
    `processes: ${processes}`,
    `connections: ${connections}`,
    `uptime: ${seconds(uptime_ms)}`,
    ...(found.safe_mode === true ? ["safe mode"] : []),
    ...sandboxFact(found.sandbox, call.console.mode === "verbose"),
    ...(found.peers === "directory" ? ["peers: not told here, the folder of the socket stands in"] : []),
  ];
  await show(call, found, `[daemon] ${facts.join(" | ")}`);
  return 0;
}

/**
 * A working sandbox is shown only with --verbose, a missing one always. A daemon of an older version does not report
 * it.
 */
function sandboxFact(sandbox: Status["sandbox"], isVerbose: boolean): readonly string[] {
  if (sandbox === undefined) return [];
  const off = sandboxOff(sandbox);
  if (off === undefined && !isVerbose) return [];
  const strictly = sandbox.mode === "required" ? ", required" : "";
  return [
    off === undefined ? `sandbox: ${sandbox.kind}${strictly}` : `sandbox: off${strictly} (${safeLine(off)})`,
  ];
}

async function stop(call: Call): Promise<number> {
  await showNone(call, await stopDaemon(call));
  return 0;
}

async function restart(call: Call): Promise<number> {
  const line = await stopDaemon(call);
  // JSON mode prints one object: that of the daemon that now runs
  if (call.console.mode !== "json") await showNone(call, line);
  return start(call);
}

async function ask(client: DaemonClient): Promise<Status> {
  const found = await client.request("kernel.status", {});
  client.close();
  return found;
}

async function show({ console }: Call, found: Status, line: string): Promise<void> {
  const { os_pid: pid, version, processes, connections, uptime_ms, safe_mode = false } = found;
  const { sandbox, peers } = found;
  if (console.mode === "json")
    await console.data({
      ...{ running: true, pid, version, processes, connections, uptime_ms, safe_mode },
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(peers === undefined ? {} : { peers }),
    });
  else await console.line(console.mode === "quiet" ? String(pid) : line);
}

async function showNone({ console }: Call, line: string): Promise<void> {
  if (console.mode === "json") await console.data({ running: false });
  else if (console.mode !== "quiet") await console.line(line);
}
