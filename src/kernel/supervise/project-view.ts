/** What `compose ps` and `compose logs` show of a project, while it runs and once it is over. */
import type { ProjectEvent, ProjectView, ReplicaView } from "../../abi/compose.ts";
import { Fault } from "../../abi/errors.ts";
import type { Subscription } from "../ports/kernel-api.ts";
import type { Child } from "./child.ts";
import type { Seat } from "./project-change.ts";
import type { LogChoice, ProjectFeed } from "./project-feed.ts";

export type LogWish = Omit<LogChoice, "children"> & { readonly services: readonly string[] };

/** What is remembered of a project that is over. */
export interface PastProject {
  readonly view: ProjectView;
  readonly feed: ProjectFeed;
}

/** `child` undefined: it is being exchanged. */
export function viewOf(
  { service, n }: Seat,
  child: Child | undefined,
  isOver: boolean,
  mono: number,
): ReplicaView {
  const run = child?.run ?? null;
  return {
    service: service.name,
    replica: n,
    pid: child?.pid ?? null,
    state: stateOf(child, isOver),
    exitCode: run === null ? (child?.lastExit?.code ?? null) : null,
    restarts: child?.restarts ?? 0,
    tokensUsed: child?.endowment.account?.view().used ?? 0,
    elapsedMs: run === null ? (child?.ranMs ?? 0) : run.proc.elapsedMs(mono),
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

export function unknownService(name: string, known: readonly string[]): Fault {
  const message = `no such service: ${name}. Services here: ${known.join(", ")}`;
  return new Fault({ code: "NOT_FOUND", message });
}
