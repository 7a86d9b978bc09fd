import type { WireProc } from "../../../abi/methods/process.ts";
import { sandboxOff } from "../../../abi/sandbox.ts";
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { allProcesses, cutLine, endedProcesses } from "../../daemon/processes.ts";
import { tellSandbox } from "../../run/tell-sandbox.ts";
import { heldBy, heldLines, waitingLines } from "../../screen/held-lines.ts";
import {
  costLines,
  modelLines,
  noteLines,
  psTable,
  slotLines,
  teamLines,
  worktreeLines,
} from "../../screen/table/ps-table.ts";
import { isShown } from "../../screen/table/roles.ts";
import { indented } from "../../screen/text/json.ts";

export const ps: Command = {
  flags: { all: { type: "boolean", short: "a" }, tree: { type: "boolean" } },
  run,
};

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  noWords(args, "crux ps [-a] [--tree]");
  if (args.flags.has("tree")) return (await import("./tree.ts")).tree.run(call);
  const client = await host.daemon.ensure();
  const isAll = args.flags.has("all");
  const live = await allProcesses(client, "list_procs");
  const ended = isAll ? await endedProcesses(client) : { rows: [], isCut: false };
  const isTold = console.mode === "verbose" && isPerson(call);
  const { sandbox } = isTold ? await client.request("kernel.status", {}) : {};
  client.close();
  const shown = isAll ? [...live, ...ended.rows].sort((a, b) => a.pid - b.pid) : live.filter(isShown);
  switch (console.mode) {
    case "json":
      await console.line(
        indented({ ok: true, data: { processes: shown.map(args.flags.has("verbose") ? full : short) } }),
      );
      break;
    case "quiet":
      if (shown.length > 0) await console.line(shown.map(({ pid }) => pid).join("\n"));
      break;
    case "verbose":
    case "default":
      await console.line(psTable(shown, console.mode === "verbose", console.room));
      if (console.mode === "verbose")
        for (const line of [
          ...slotLines(shown),
          ...teamLines(shown),
          ...worktreeLines(shown),
          ...noteLines(shown),
        ])
          await console.line(line);
      // for the user; the table itself is fixed
      if (isPerson(call))
        for (const line of [...asides(shown, isTold), ...cutLine(ended.isCut)]) await console.errorLine(line);
      await tellSandbox(call, sandbox === undefined ? undefined : sandboxOff(sandbox));
  }
  return 0;
}

function asides(shown: readonly WireProc[], verbose: boolean): readonly string[] {
  const more = verbose ? [...modelLines(shown), ...costLines(shown)] : [];
  // a verbose screen has them below its table
  const teams = verbose ? [] : teamLines(shown);
  return [...heldLines(shown), ...waitingLines(shown), ...teams, ...more];
}

function isPerson({ host }: Call): boolean {
  return host.stdout.isTTY === true && host.stderr.isTTY === true;
}

/** The seven keys; for a held process also the reason and the command that releases it. */
function short(proc: WireProc) {
  const { pid, ppid, state, intent, skills, tokens_used, elapsed_ms } = proc;
  const held = heldBy(proc);
  return {
    pid,
    ppid,
    state,
    intent,
    skills,
    tokens_used,
    elapsed_ms,
    ...(held === undefined ? {} : { held }),
  };
}

/** null: the cost is not known. */
function costOf({ cost_usd, unpriced_calls = 0 }: WireProc): number | null {
  return cost_usd ?? (unpriced_calls > 0 ? null : 0);
}

function full(proc: WireProc) {
  const { kind, activity, created_at, ctx_id, allowed_devices, groups, result, exit, model, note } = proc;
  const more = { kind, activity, created_at, ctx_id, allowed_devices, groups, result, exit };
  return {
    ...short(proc),
    ...more,
    cost_usd: costOf(proc),
    ...(model === undefined ? {} : { model }),
    ...(note === undefined ? {} : { note }),
    ...(proc.worktree === undefined ? {} : { worktree: proc.worktree }),
    ...(proc.fork === undefined ? {} : { fork: proc.fork }),
    ...(proc.agent_id === undefined ? {} : { agent_id: proc.agent_id }),
    ...(proc.called === undefined ? {} : { called: proc.called }),
    ...(proc.team === undefined ? {} : { team: proc.team }),
    ...(proc.slot === undefined ? {} : { slot: proc.slot }),
  };
}
