import { Fault } from "../../../abi/errors.ts";
import type { WireRow } from "../../../abi/methods/process.ts";
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { allProcesses, cutLine, endedProcesses } from "../../daemon/processes.ts";
import { heldBy, heldLines } from "../../screen/held-lines.ts";
import { ASCII, forest, LINES } from "../../screen/table/forest.ts";
import { isShown, rolesOf } from "../../screen/table/roles.ts";
import { type TreeRow, treeTable } from "../../screen/table/tree-table.ts";

const USAGE = "crux tree [<pid>] [--all] [--ascii]";

export const tree: Command = {
  flags: { all: { type: "boolean", short: "a" }, ascii: { type: "boolean" } },
  run,
};

async function run({ args, console, host }: Call): Promise<number> {
  const root = args.words.length === 0 ? undefined : onePid(args, USAGE);
  const client = await host.daemon.ensure();
  const isAll = args.flags.has("all");
  const live = await allProcesses(client, "process.list");
  // a tree whose root has ended is shown too: nothing else could be meant
  const isGone = root !== undefined && !live.some(({ pid }) => pid === root);
  const ended = isAll || isGone ? await endedProcesses(client, root) : { rows: [], isCut: false };
  client.close();
  const found = [...live, ...ended.rows].sort((a, b) => a.pid - b.pid);
  const shown = isAll ? found : withoutInner(found, root);
  if (root !== undefined && !shown.some(({ pid }) => pid === root)) throw processNotFound(root);
  const roles = rolesOf(shown);
  const branches = forest(shown, args.flags.has("ascii") ? ASCII : LINES, root).map((branch) => ({
    ...branch,
    role: roles.get(branch.row.pid),
  }));
  switch (console.mode) {
    case "json":
      await console.data({ processes: branches.map(asData) });
      break;
    case "quiet":
      if (branches.length > 0) await console.line(branches.map(({ row }) => row.pid).join("\n"));
      break;
    case "verbose":
    case "default":
      await console.line(treeTable(branches, console.room));
      if (host.stdout.isTTY === true && host.stderr.isTTY === true)
        for (const line of [...heldLines(branches.map(({ row }) => row)), ...cutLine(ended.isCut)])
          await console.errorLine(line);
  }
  return 0;
}

/** The same error as the daemon's, for a pid that is not in its list. */
function processNotFound(pid: number): Fault {
  const fact = { kind: "no_process", pid } as const;
  return new Fault({ code: "NOT_FOUND", message: `process not found: ${pid}`, fact });
}

/** Leaves out what agents and mounts start for themselves, so its children become roots. One requested by its pid is kept. */
function withoutInner(rows: readonly WireRow[], asked?: number): WireRow[] {
  return rows.filter((row) => isShown(row) || row.pid === asked);
}

/** A flat list in tree order: a chain of processes may be deeper than JSON objects can be nested. */
function asData({ row, role, depth, subtreeTokens, subtreeUsd }: TreeRow) {
  const {
    pid,
    ppid,
    kind,
    name,
    state,
    activity,
    model,
    tokens_used,
    elapsed_ms,
    intent,
    cost_usd = 0,
    exit,
  } = row;
  const head = { pid, ppid, depth, kind, role, name, state, activity, model };
  const used = { tokens_used, subtree_tokens: subtreeTokens, elapsed_ms };
  const held = heldBy(row);
  const why = held === undefined ? {} : { held };
  return {
    ...head,
    ...used,
    intent,
    cost_usd,
    subtree_cost_usd: subtreeUsd,
    ...why,
    ...(row.slot === undefined ? {} : { slot: row.slot }),
    ...(state === "dead" ? { exit_code: exit?.code ?? null } : {}),
  };
}
