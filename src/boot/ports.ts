/** The ports of the kernel, implemented by the parts. */
import { randomUUID } from "node:crypto";
import { messageOf } from "../abi/errors.ts";
import { asProcUuid, type Pid, type ProcUuid } from "../abi/ids.ts";
import { deferredSetting } from "../agent/deferred/setting.ts";
import { agentProgram } from "../agent/loop.ts";
import { budgetPolicy } from "../daemon/budget-policy.ts";
import { loadComposeProject } from "../dev/host/compose-source.ts";
import { realPath } from "../dev/host/real-path.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import { redactedJournal } from "../kernel/redact/redacted-journal.ts";
import { bypassRefusal } from "../lib/bypass-refusal.ts";
import { paced } from "../lib/paced.ts";
import { timeSlice } from "../lib/time/time-slice.ts";
import { makeClassifier } from "../permit/auto/classifier.ts";
import type { Parts } from "./parts.ts";

export function portsOf(parts: Parts): KernelPorts {
  const { context, store, config, host, spools, scratch, jobs, agents, guides, mcp, key, worktrees } = parts;
  const { home, env, clock, version, gaps, redactor, log } = context;
  const { journal, ends } = store;
  return {
    ...(redactor === undefined ? { journal } : { journal: redactedJournal(journal, redactor), redactor }),
    ends,
    permitFor: (cwd) => config.permitFor(cwd),
    settings: config.writer,
    askTimeouts: () => config.askTimeouts(),
    models: config.resolver,
    classifier: makeClassifier(() => config.settings),
    program: agentProgram({ platform: process.platform, ...counts(env), deferred: deferredSetting(env) }),
    starts: paced(STARTS_OF_ROUND),
    slices: { first: timeSlice(FIRST_MS), others: timeSlice(OTHERS_MS) },
    clock,
    ...(gaps === undefined ? {} : { gaps }),
    exec: host.exec,
    spools,
    mcp,
    commandEnv: host.commandEnv,
    tokenFor: ({ pid, uuid }, scopes) => host.tokens.issue(pid, uuid, scopes),
    random: Math.random,
    version,
    loadAgent: agents.load,
    loadProject: loadComposeProject,
    guides,
    worktrees,
    realPath,
    grantKey: key,
    bypassRefusal: () => bypassRefusal(),
    uuid: () => asProcUuid(randomUUID()),
    nonce,
    scratchDir: (uuid) => scratch.scratchDir(uuid),
    scratchpads: parts.scratchpads,
    jobs,
    onExited: (pid) => freeTasks(parts, pid),
    onReturned: async (pids) => void (await Promise.all(pids.map((pid) => lookAtTasks(parts, pid)))),
    onReaped: (uuid) => forget(parts, uuid),
    home,
    env,
    sessionRestMs: () => config.settings.sessions?.restAfterMs ?? LIMITS.sessionRestMs,
    budget: (cwd) => budgetPolicy(config.settingsIn(cwd)),
    defaultMaxSteps: config.settings.defaults?.maxSteps ?? LIMITS.defaultMaxSteps,
    log,
  };
}

async function freeTasks({ context, link, tasks }: Parts, pid: Pid): Promise<void> {
  const place = link.kernel.taskPlace(pid);
  try {
    if (place !== null) await tasks.exited(pid, place);
  } catch (error) {
    context.log("warn", `tasks of pid ${pid}: ${messageOf(error)}`);
  }
}

/** Of the list that it leads. */
async function lookAtTasks({ context, link, tasks }: Parts, pid: Pid): Promise<void> {
  const place = link.kernel.taskPlace(pid);
  if (place?.leader !== pid) return;
  await tasks
    .returned(place)
    .catch((error: unknown) => context.log("warn", `tasks of pid ${pid}: ${messageOf(error)}`));
}

async function forget(
  { host, link, trust, scratch, scratchpads, outputs }: Parts,
  uuid: ProcUuid,
): Promise<void> {
  host.sockets.close(uuid);
  host.tokens.drop(uuid);
  trust.endSessions([...link.kernel.table.all()].map(({ seed }) => seed.cwd));
  await scratch.removeEmpty(uuid);
  const { table } = link.kernel;
  await scratchpads.released(uuid, (session) =>
    [...table.all()].some(({ seed }) => seed.session.owner?.proc === session),
  );
  await outputs.remove(uuid);
}

function counts(env: Readonly<Record<string, string>>): { maxRetries?: number; maxConcurrency?: number } {
  const retries = Number(env.CRUX_MAX_RETRIES);
  const calls = Number(env.CRUX_MAX_TOOL_CONCURRENCY);
  return {
    ...(Number.isInteger(retries) && retries >= 1 ? { maxRetries: retries } : {}),
    ...(Number.isInteger(calls) && calls >= 1 ? { maxConcurrency: calls } : {}),
  };
}

/** Agents that begin in one round of the event loop, each for some milliseconds: of many started at once, all are acknowledged first. */
const STARTS_OF_ROUND = 1;

/**
 * Of one round of the event loop: a program works for a millisecond or less between two answers, but starts with dozens of calls.
 * Whoever starts one waits for two rounds, so those that nobody waits for have less of each.
 */
const FIRST_MS = 8;
const OTHERS_MS = 4;

/** 64 random bits: the parts of a UUID that are random. Node asks the system for those of many UUIDs at once. */
function nonce(): string {
  const id = randomUUID();
  return id.slice(0, 8) + id.slice(28);
}
