/** The replicas of a project, in start order and by service, and the definitions they were started with. */
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";
import { memberName } from "../../abi/member.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { CheckedChild, CheckedStart } from "../spec.ts";
import { type ProjectChange, planChange, type Standing, signatureOf, startOrder } from "./change.ts";
import { Replica, type ReplicaHost } from "./replica.ts";

/** At most this many agents are named in the note, to keep the first request small; messages to the others work too. */
const MAX_NAMED = 16;

export class ProjectReplicas {
  readonly #host: ReplicaHost;
  #byId: ReadonlyMap<string, Replica> = new Map();
  #byService: ReadonlyMap<string, readonly Replica[]> = new Map();
  readonly #signatures = new Map<string, string>();

  constructor(host: ReplicaHost) {
    this.#host = host;
  }

  /** Iterates in start order. */
  [Symbol.iterator](): IterableIterator<Replica> {
    return this.#byId.values();
  }

  /** Signatures of the definitions they were started with, by service. */
  get signatures(): ReadonlyMap<string, string> {
    return this.#signatures;
  }

  find(id: string): Replica | undefined {
    return this.#byId.get(id);
  }

  /** A replica that must exist. */
  get(id: string): Replica {
    const found = this.#byId.get(id);
    if (found === undefined) throw new Error(`the project has no replica ${id}`);
    return found;
  }

  /** The note for an agent about the other agents; "": no others. Programs are left out, as they read no messages. */
  fellowNote(project: string, self: Replica): string {
    const others = [...this].filter(({ id, service }) => id !== self.id && service.program.kind === "agent");
    if (others.length === 0) return "";
    const names = others.slice(0, MAX_NAMED).map(nameOf);
    const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : "";
    return `You are \`${nameOf(self)}\` of the compose project ${project}. The tool \`send\` takes a message to its other agents by name: ${names.join(", ")}${more}.`;
  }

  has(service: string): boolean {
    return this.of(service).length > 0;
  }

  of(service: string): readonly Replica[] {
    return this.#byService.get(service) ?? [];
  }

  standing(isIdle: (id: string) => boolean): ReadonlyMap<string, Standing> {
    return new Map(
      [...this.#signatures].map(([name, signature]) => {
        const ids = this.of(name).map(({ id }) => id);
        return [name, { signature, ids, idle: ids.filter(isIdle) }];
      }),
    );
  }

  /** Creates the replicas for the first start. */
  begin(project: ComposeProject, selected: ReadonlySet<string>): void {
    const change = planChange(new Map(), project, { selected, removeOrphans: false });
    this.seat(this.after(project, change));
  }

  /** The replicas after a change, in start order; `seat` applies them. The signatures change at once. */
  after(project: ComposeProject, { leave, start, stop }: ProjectChange): Replica[] {
    for (const name of stop) this.#signatures.delete(name);
    for (const { service } of start) this.#signatures.set(service.name, signatureOf(service, project));
    const stays = [...this].filter(({ id }) => !leave.includes(id));
    const all = [...stays, ...start.map(({ service, n }) => new Replica(service, n, this.#host))];
    const services = new Map(all.map(({ service }) => [service.name, service]));
    const order = startOrder([...services.values()]);
    return all.sort((a, b) => order.indexOf(a.service.name) - order.indexOf(b.service.name) || a.n - b.n);
  }

  seat(replicas: readonly Replica[]): void {
    this.#byId = new Map(replicas.map((replica) => [replica.id, replica]));
    this.#byService = Map.groupBy(replicas, ({ service }) => service.name);
  }
}

/** The shortest unique name. */
function nameOf({ service, n }: Replica): string {
  return service.replicas === 1 ? service.name : memberName({ service: service.name, replica: n });
}

/** A replica as a child of the supervisor. `env`: the client's, for model credentials and for commands to inherit. */
export function childOf(
  service: ComposeService,
  n: number,
  env: Readonly<Record<string, string>>,
): CheckedChild {
  return {
    id: `${service.name}-${n}`,
    start: startOf(service, { ...env, CRUX_REPLICA: String(n) }),
    restart: service.restart,
    shutdown: service.shutdownMs,
  };
}

function startOf(service: ComposeService, env: Readonly<Record<string, string>>): CheckedStart {
  const { program, cwd, group, permissionMode, budgetTokens, budgetUsd, timeoutMs } = service;
  const common: SpawnOpts = {
    cwd,
    env,
    contextBudget: budgetTokens,
    ...(budgetUsd === undefined ? {} : { budget: { usd: budgetUsd } }),
    ...(group === undefined ? {} : { group }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
  };
  if (program.kind === "native") {
    const options = { cwd, env: service.env, timeoutMs };
    return { kind: "native", command: program.command, options, opts: common };
  }
  const opts: SpawnOpts = {
    ...common,
    env: { ...env, ...service.env },
    model: service.model ?? "",
    systemPrompt: service.systemPrompt ?? "",
    maxTurns: service.maxSteps,
    timeoutMs,
  };
  return { kind: "agent", agent: program.agent, intent: program.intent, opts };
}

/** A placeholder for a child that cannot be started as it was. */
export function heldChild(id: string, reason: string): CheckedChild {
  return { id, start: { kind: "withheld", reason }, restart: "temporary", shutdown: 0 };
}
