/**
 * The checks that need the daemon: itself, the sandbox, settings, the journal, this folder; and one test call to the
 * model.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CheckWire } from "../../../abi/journal/wire.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import { NOT_PROMISED } from "../../../abi/sandbox.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { counted } from "../../../lib/text/counted.ts";
import type { Call } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { allProcesses } from "../../daemon/processes.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { tryModel } from "../../run/try-model.ts";
import { wireOf } from "../../screen/errors.ts";
import type { Finding } from "./doctor-local.ts";

type SandboxOfDaemon = NonNullable<Result<"kernel.status">["sandbox"]>;
type Tell = (finding: Finding) => Promise<void>;
type Check = (call: Call, client: DaemonClient) => Promise<readonly Finding[]>;

const CHECKS: ReadonlyArray<readonly [name: string, remedy: string, check: Check]> = [
  ["daemon", "crux daemon restart", daemon],
  ["settings", "crux config list shows where", settings],
  ["trust", "crux trust show", trust],
  ["worktrees", "git worktree list shows them", worktrees],
];
const NO_MODEL = "not made, since no model is set up";

export async function daemonFindings(call: Call, isOffline: boolean, tell: Tell): Promise<void> {
  const client = await reached(call, tell);
  if (client === undefined) return;
  try {
    for (const [name, remedy, check] of CHECKS)
      for (const finding of await guarded(name, remedy, () => check(call, client))) await tell(finding);
  } finally {
    client.close();
  }
  for (const finding of await guarded("journal", "crux fsck", () => journal(call))) await tell(finding);
  if (isOffline) return;
  for (const finding of await guarded("test call", "crux doctor --offline leaves it out", () =>
    testCall(call),
  ))
    await tell(finding);
}

/**
 * Worktrees that Crux has made in this repository and that no process works in any more, and those that the daemon has
 * removed; silent where there are none.
 */
async function worktrees({ host }: Call, client: DaemonClient): Promise<readonly Finding[]> {
  const { swept_worktrees: swept = [] } = await client.request("kernel.status", {});
  const gone: Finding = {
    name: "worktrees",
    state: "ok",
    words: `removed after long disuse: ${swept.join(", ")}`,
  };
  return [...(await madeHere(host.cwd, client)), ...(swept.length === 0 ? [] : [gone])];
}

async function madeHere(cwd: string, client: DaemonClient): Promise<readonly Finding[]> {
  const made = madeWorktrees(cwd);
  if (made.length === 0) return [];
  const used = new Set((await allProcesses(client, "list_procs")).map(({ worktree }) => worktree?.path));
  const left = made.filter((path) => !used.has(path));
  const [first = ""] = left;
  if (left.length === 0) return [{ name: "worktrees", state: "ok", words: `${made.length} in use` }];
  const words = `${left.length} kept, with changes or after a crash: ${left.join(", ")}`;
  const remedy = `look into it, then: git worktree remove ${shellWord(first)}`;
  return [{ name: "worktrees", state: "warn", words, remedy }];
}

/** By their markers in the git directory; paths. */
function madeWorktrees(cwd: string): readonly string[] {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const worktrees = join(dir, ".git", "worktrees");
    const names = existsSync(worktrees) ? readdirSync(worktrees) : [];
    const made = names.filter((name) => existsSync(join(worktrees, name, "crux.json")));
    if (made.length > 0 || existsSync(join(dir, ".git")) || dir === dirname(dir))
      return made.map((name) => dirname(readFileSync(join(worktrees, name, "gitdir"), "utf8").trim()));
  }
}

async function reached({ host }: Call, tell: Tell): Promise<DaemonClient | undefined> {
  try {
    return await host.daemon.ensure();
  } catch (error) {
    const { message, hint = "crux daemon restart --force" } = wireOf(error);
    await tell({ name: "daemon", state: "fail", words: message, remedy: hint });
    return undefined;
  }
}

/** Turns an error of a check into a finding. */
async function guarded(
  name: string,
  remedy: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    const { message, hint = remedy } = wireOf(error);
    return [{ name, state: "fail", words: message, remedy: hint }];
  }
}

async function daemon({ host }: Call, client: DaemonClient): Promise<readonly Finding[]> {
  const { version, os_pid: pid, safe_mode, read_only, sandbox } = await client.request("kernel.status", {});
  const words = `running (PID ${pid}), v${version}`;
  const itself: Finding =
    read_only !== undefined
      ? {
          name: "daemon",
          state: "fail",
          words: `read-only: ${read_only}`,
          remedy: "free some space, then crux daemon restart",
        }
      : safe_mode === true
        ? {
            name: "daemon",
            state: "warn",
            words: `${words}, in safe mode`,
            remedy: "crux daemon restart, then crux daemon start --normal",
          }
        : version === host.version
          ? { name: "daemon", state: "ok", words }
          : {
              name: "daemon",
              state: "warn",
              words: `${words}; this is v${host.version}`,
              remedy: "crux daemon restart",
            };
  return sandbox === undefined ? [itself] : [itself, sandboxFinding(sandbox)];
}

/** A kind that promises less than the best works, and is a warning with the way to a better one. */
function sandboxFinding(sandbox: SandboxOfDaemon): Finding {
  const { available, kind, mode, why = "not known", fix } = sandbox;
  const remedy = fix === undefined ? {} : { remedy: fix };
  if (mode === "off")
    return {
      name: "sandbox",
      state: "warn",
      words: "switched off in the settings",
      remedy: "crux config unset sandbox.mode",
    };
  if (!available) return { name: "sandbox", state: "fail", words: why, ...remedy };
  if (kind === undefined) return { name: "sandbox", state: "ok", words: "works" };
  const not_promised = NOT_PROMISED[kind];
  const found = { name: "sandbox", kind, not_promised } as const;
  if (kind === "bubblewrap" || kind === "namespaces")
    return { ...found, state: "ok", words: `works (${kind})` };
  const words = `works (${kind}), and does not promise everything: ${not_promised.join("; ")}`;
  return { ...found, state: "warn", words, ...remedy };
}

async function settings({ host }: Call, client: DaemonClient): Promise<readonly Finding[]> {
  const found = await client.request("settings.list", { cwd: host.cwd });
  const set = found.settings.filter(({ source, ignored }) => source !== "default" && ignored === undefined);
  if (found.problems.length === 0)
    return [{ name: "settings", state: "ok", words: `${counted(set.length, "value")}, none wrong` }];
  return found.problems.map((words) => ({
    name: "settings",
    state: "fail" as const,
    words,
    remedy: "fix the file; until then every tool asks",
  }));
}

async function trust({ host }: Call, client: DaemonClient): Promise<readonly Finding[]> {
  const { trusted, items } = await client.request("trust.show", { dir: host.cwd });
  const off = items.filter(({ state }) => state !== "trusted" && state !== "holds").length;
  if (items.length === 0)
    return [{ name: "trust", state: "ok", words: "this folder brings nothing that acts" }];
  if (off === 0 && trusted)
    return [
      { name: "trust", state: "ok", words: `this folder is trusted, with ${counted(items.length, "file")}` },
    ];
  const words = `${off} of ${counted(items.length, "file")} that this folder brings ${off === 1 ? "does" : "do"} not act`;
  return [{ name: "trust", state: "warn", words, remedy: "crux trust shows them, and asks" }];
}

async function journal({ host }: Call): Promise<readonly Finding[]> {
  const client = await host.daemon.ensure();
  const stream = await client.stream("journal.check", { full: false, processes: [] });
  try {
    for await (const { type, payload } of stream.lines) {
      if (type === "error") throw payload;
      if (type !== "complete") continue;
      const damage = (payload as CheckWire).findings.filter(({ severity }) => severity === "damage").length;
      if (damage === 0) return [{ name: "journal", state: "ok", words: "whole" }];
      return [
        { name: "journal", state: "fail", words: `${damage} damaged places`, remedy: "crux fsck names them" },
      ];
    }
    throw new Error("the check broke off");
  } finally {
    stream.close();
  }
}

async function testCall({ host }: Call): Promise<readonly Finding[]> {
  const env = clientEnvironment(host.env);
  const answer = await tryModel(host, { env });
  switch (answer.kind) {
    case "answered":
      return [{ name: "test call", state: "ok", words: `answered, ${counted(answer.tokens, "token")}` }];
    case "no_model":
      // no model can be tried, and the line of the model has the remedy
      return [{ name: "test call", state: "warn", words: NO_MODEL }];
    case "failed":
      return [
        {
          name: "test call",
          state: "fail",
          words: answer.why,
          remedy: "check the key and the address; crux doctor --offline leaves it out",
        },
      ];
  }
}
