/** What `compose ps` and `compose logs` show of a running or ended project. */
import type { ProjectEvent, ReplicaView } from "../../abi/compose/compose.ts";
import { Fault } from "../../abi/errors.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { Child } from "../child.ts";
import { type Seat, withDependencies } from "./change.ts";
import type { LogChoice } from "./feed.ts";
import type { PastProject } from "./roster.ts";

export type LogWish = Omit<LogChoice, "children"> & { readonly services: readonly string[] };

/** `child` undefined: it is being replaced. */
export function viewOf(
  { service, n, note = "" }: Seat & { readonly note?: string },
  child: Child | undefined,
  { isOver, mono }: { readonly isOver: boolean; readonly mono: number },
): ReplicaView {
  const run = child?.run ?? null;
  const exit = run === null ? (child?.lastExit ?? null) : null;
  const why = note === "" && exit !== null && exit.code !== 0 ? exit.reason : note;
  return {
    service: service.name,
    replica: n,
    pid: child?.pid ?? null,
    state: stateOf(child, isOver),
    exitCode: exit?.code ?? null,
    restarts: child?.restarts ?? 0,
    tokensUsed: child?.endowment.account?.view().used ?? 0,
    elapsedMs: run?.proc?.elapsedMs(mono) ?? child?.ranMs ?? 0,
    ...(why === "" ? {} : { note: why }),
  };
}

function stateOf(child: Child | undefined, isOver: boolean): ReplicaView["state"] {
  const state = child?.state ?? "stopped";
  if (state === "done") return "dead";
  if (!isOver || state === "skipped") return state;
  return child?.lastExit == null ? "stopped" : "dead";
}

/** NOT_FOUND: no such service. */
export function logsOf(
  { view, feed }: PastProject,
  { services, ...choice }: LogWish,
): Subscription<ProjectEvent> {
  const known = new Set(view.replicas.map(({ service }) => service));
  for (const service of services) if (!known.has(service)) throw unknownService(service, [...known]);
  const chosen = view.replicas.filter(({ service }) => services.includes(service));
  const children = new Set(chosen.map(({ service, replica }) => `${service}-${replica}`));
  return feed.logs({ ...choice, children: services.length === 0 ? undefined : children });
}

function unknownService(name: string, known: readonly string[]): Fault {
  const message = `no such service: ${name}. Services here: ${known.join(", ")}`;
  return new Fault({ code: "NOT_FOUND", message });
}

/** The requested services and their dependencies. NOT_FOUND: no such service. */
export function selectedOf({
  project,
  services,
}: Pick<ProjectUp, "project" | "services">): ReadonlySet<string> {
  const known = project.services.map(({ name }) => name);
  return withDependencies(project, services, (name) => {
    throw unknownService(name, known);
  });
}

/** `code`: the exit code of the first failed service; 0: none. */
export function endOf(
  project: string,
  exit: ExitStatus,
  { code, ...spent }: { readonly code: number; readonly tokens: number; readonly elapsedMs: number },
): ProjectEvent {
  if (exit.kind === "killed") return { event: "stopped", project };
  if (exit.code !== 0) return { event: "failed", project, reason: exit.reason, code: code || exit.code };
  return { event: "done", project, ...spent, code };
}
