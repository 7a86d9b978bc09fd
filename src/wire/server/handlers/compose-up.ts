import type { ComposeProject, ProjectEvent } from "../../../abi/compose.ts";
import { composeNotices } from "../../../abi/compose-file.ts";
import { Fault } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";
import { projectOf } from "./compose-config.ts";
import { sendEvents } from "./compose-events.ts";

/** Ends of a project. */
const ENDS: ReadonlySet<ProjectEvent["event"]> = new Set(["done", "failed", "stopped"]);

type Env = Readonly<Record<string, string>>;

/** A client that goes away leaves the project running; so does one that asked to be let go once it is up. */
export const composeUp: Handler<"compose.up"> = async (params, { kernel, deps, ended, gone }) => {
  const {
    file,
    dir,
    project: name,
    services,
    remove_orphans: removeOrphans,
    detach,
    env = deps.env,
  } = params;
  const project = projectOf({ file, dir, project: name });
  await checkAgents(project, deps, env);
  const { pid, events } = await kernel.projects.up({
    project,
    services: services ?? [],
    removeOrphans: removeOrphans ?? false,
    env,
  });
  return {
    payload: {
      pid,
      project: project.name,
      children: project.services.flatMap((service) => childrenOf(service.name, service.replicas)),
      notices: composeNotices(project),
    },
    follow: async (send) => {
      const wasRead = await sendEvents(events, send, {
        noticeOf: (child) => kernel.noticeOf(child),
        // a project may say nothing for days: whoever closed its half has left
        until: detach === true ? gone : ended,
        isShown: () => true,
        isLast: ({ event }) => ENDS.has(event) || (detach === true && event === "up"),
      });
      if (wasRead && detach !== true) await reap(kernel, pid);
    },
  };
};

/** Before anything starts. NOT_FOUND with the path of the service, and the agents there are. */
async function checkAgents({ services }: ComposeProject, deps: ServerDeps, env: Env): Promise<void> {
  for (const { name, program, cwd } of services) {
    if (program.kind !== "agent" || program.agent === undefined) continue;
    try {
      await deps.loadAgent(program.agent, cwd, env);
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause;
      const { code, message, hint } = cause;
      throw new Fault({ code, message: `services.${name}.agent: ${message}`, hint, cause });
    }
  }
}

function childrenOf(service: string, replicas: number): string[] {
  return Array.from({ length: replicas }, (_, at) => `${service}-${at + 1}`);
}

/** Its client has read the end: the supervisor need not stay for others to see. */
async function reap(kernel: KernelApi, pid: Pid): Promise<void> {
  try {
    await kernel.init.reap(pid);
  } catch (error) {
    // another client was faster, or a project of that name was brought up again
    if (!(error instanceof Fault)) throw error;
  }
}
