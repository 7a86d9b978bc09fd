/**
 * Restores a compose project. Its file is read again, because the values of variables were not kept; a service whose
 * definition has changed is not started, and the reason is shown. Restart intensity and budgets are those recorded.
 */
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";
import { messageOf } from "../../abi/errors.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Comeback } from "../comeback.ts";
import type { Endowment } from "../endowment.ts";
import type { SupervisorFold } from "../record/facet.ts";
import { isUp } from "../record/kept-supervisor.ts";
import { type Made, type Parts, type Restoring, restoringWith } from "../restore.ts";
import { specOfRecord } from "../spec-record.ts";
import { differences, type KeptProject } from "./kept.ts";
import { Project, type ProjectKernel } from "./project.ts";
import type { ProjectRoster } from "./roster.ts";

/** What restoring a project needs of the kernel. */
type ProjectRestoring = Restoring &
  ProjectKernel & {
    readonly ports: Pick<KernelPorts, "loadProject">;
    readonly projects: Pick<ProjectRoster, "enter">;
  };

/** The recorded parts from which a project is restored. */
export interface ProjectComeback {
  readonly comeback: Comeback;
  readonly endowment: Endowment;
  readonly kept: KeptProject;
  /** By service: the reason why it is not started. */
  readonly withheld: ReadonlyMap<string, string>;
}

/** Restores a supervisor, and its project if it has one. */
export const restoreSupervised = restoringWith((core: ProjectRestoring, parts, kept) =>
  projectOf(core, parts, kept as KeptProject),
);

async function projectOf(
  core: ProjectRestoring,
  { record, comeback, endowment }: Parts,
  kept: KeptProject,
): Promise<Made> {
  const { intensity, backoff } = specOfRecord({ ...record, children: [] }).spec;
  const { fold } = comeback;
  const { file, withheld } = await fileOf(core, kept);
  const services = Object.keys(kept.digests).map(
    (name) =>
      file?.services.find((service) => service.name === name && !withheld.has(name)) ?? standIn(name, fold),
  );
  const held = withhold(fold, withheld);
  const project: ComposeProject = {
    name: kept.name,
    budgetTokens: 0,
    intensity,
    backoff,
    services,
    pipes: file?.pipes ?? [],
    // allowed only if it was brought up with it, and the file still has it
    messages: kept.messages === true && file?.messages === true,
  };
  const { env } = core.ports;
  const request = { project, services: [], removeOrphans: false, env };
  const restored = new Project(core, request, { comeback, endowment, kept, withheld });
  return {
    supervisor: restored.supervisor,
    words: ["brought back by a new daemon; the logs of its services and its pipes begin anew", ...held],
    entered: (proc) => {
      restored.resume(proc, project);
      core.projects.enter(restored);
    },
  };
}

interface FileNow {
  readonly file: ComposeProject | null;
  readonly withheld: ReadonlyMap<string, string>;
}

async function fileOf({ ports }: ProjectRestoring, kept: KeptProject): Promise<FileNow> {
  try {
    const file = await read(ports, kept);
    if (file.name !== kept.name) throw new Error(`it is now of a project ${file.name}`);
    return { file, withheld: differences(kept, file) };
  } catch (error) {
    const path = kept.source?.path ?? "its compose file";
    const reason = `${path}: ${messageOf(error)}`;
    return { file: null, withheld: new Map(Object.keys(kept.digests).map((name) => [name, reason])) };
  }
}

async function read(
  { loadProject, env }: ProjectRestoring["ports"],
  { source }: KeptProject,
): Promise<ComposeProject> {
  if (source === null || loadProject === undefined)
    throw new Error("its file is not known; the project has to be brought up again");
  return loadProject(source, env);
}

/** A placeholder for a service whose definition is missing; it is never run. */
function standIn(name: string, { kept }: SupervisorFold): ComposeService {
  const replicas = kept.children.filter(({ id }) => id.slice(0, id.lastIndexOf("-")) === name).length;
  return {
    name,
    program: { kind: "native", command: [] },
    maxSteps: 0,
    timeoutMs: 0,
    cwd: "/",
    env: {},
    budgetTokens: 0,
    dependsOn: {},
    restart: "temporary",
    replicas,
    shutdownMs: 0,
  };
}

/** Marks the children that are not started, except those that had ended. Returns the lines for the log. */
function withhold(fold: SupervisorFold, withheld: ReadonlyMap<string, string>): readonly string[] {
  return fold.kept.children.flatMap((child) => {
    const reason = withheld.get(child.id.slice(0, child.id.lastIndexOf("-")));
    if (reason === undefined || !isUp(child)) return [];
    fold.withhold(child.id, "skipped");
    return [`${child.id} is not started: ${reason}`];
  });
}
