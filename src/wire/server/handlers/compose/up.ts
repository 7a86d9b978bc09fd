import { join } from "node:path";
import type { ProjectEvent } from "../../../../abi/compose/compose.ts";
import { Fault } from "../../../../abi/errors.ts";
import type { Pid } from "../../../../abi/ids.ts";
import type { Params } from "../../../../abi/methods/methods.ts";
import type { KernelApi } from "../../../../kernel/ports/kernel-api.ts";
import type { ServerDeps } from "../../deps.ts";
import type { Handler } from "../../handler.ts";
import { invalid } from "../../request.ts";
import { checkAgents, projectOf } from "./config.ts";
import { sendEvents } from "./events.ts";

/** The compose file as its client has read it. */
type ReadFile = Pick<Params<"compose.up">, "path" | "digest">;

/** The most untrusted files named in the error. */
const MAX_NAMED = 5;
/** The events that end a project. */
const ENDS: ReadonlySet<ProjectEvent["event"]> = new Set(["done", "failed", "stopped"]);

/** The project continues when the client leaves; a client may also ask to be released once the project is up. */
export const composeUp: Handler<"compose.up"> = async (params, call) => {
  const { kernel, deps, ended, gone } = call;
  const {
    file,
    dir,
    path,
    digest,
    project: name,
    services,
    remove_orphans: removeOrphans,
    detach,
    env = deps.env,
  } = params;
  if (path !== undefined && !path.startsWith("/")) throw invalid(`payload.path: must be absolute: ${path}`);
  const project = projectOf({ file, dir, project: name });
  const { pid, events } = await call.repeats.once(
    "compose.up",
    params,
    call,
    async (marked) => {
      await checkTrusted(deps, dir, { path, digest });
      await checkAgents(project, deps, env);
      const request = {
        project,
        services: services ?? [],
        removeOrphans: removeOrphans ?? false,
        env,
        ...(path === undefined ? {} : { source: { path, dir, name: name ?? "" } }),
        ...marked,
      };
      return kernel.projects.up(request, gone);
    },
    async (made) => ({
      pid: made.pid,
      events: await kernel.projects.rejoin(project.name, made.pid, env),
    }),
  );
  return {
    payload: {
      pid,
      project: project.name,
      children: project.services.flatMap((service) => childrenOf(service.name, service.replicas)),
      notices: [],
    },
    follow: async (send) => {
      const wasRead = await sendEvents(events, send, {
        noticeOf: (child) => kernel.noticeOf(child),
        // a project may send nothing for days: a client that closed its half counts as gone
        until: detach === true ? gone : ended,
        isShown: () => true,
        isLast: ({ event }) => ENDS.has(event) || (detach === true && event === "up"),
      });
      if (wasRead && detach !== true) await reap(kernel, pid);
    },
  };
};

/**
 * A project does not start with only part of what its folder brings, nor from a file that the user has not seen: PERMISSION until
 * that is trusted. Without a path it is from nobody but the client.
 */
async function checkTrusted({ trust }: ServerDeps, dir: string, { path, digest }: ReadFile): Promise<void> {
  if (trust === undefined) return;
  const { root, items, refused } = await trust.show(dir, { compose: path });
  const file = items.find(({ kind }) => kind === "compose");
  if (path !== undefined && file === undefined) {
    const why = refused.find((each) => join(root, each.path) === path)?.why ?? `it is no file of ${root}`;
    throw new Fault({ code: "PERMISSION", message: `${path} cannot be trusted: ${why}` });
  }
  if (file !== undefined && digest !== undefined && file.digest !== digest)
    throw new Fault({ code: "CONFLICT", message: `${file.path} has changed since it was read` });
  const paths = items.filter(({ state }) => state !== "trusted" && state !== "holds").map(({ path }) => path);
  if (paths.length === 0) return;
  const folder = path !== undefined && file !== undefined && file.state !== "trusted" ? path : root;
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
  const message = `${root} brings what you have not trusted: ${paths.slice(0, MAX_NAMED).join(", ")}${more}`;
  throw new Fault({ code: "PERMISSION", message, fact: { kind: "untrusted", folder } });
}

function childrenOf(service: string, replicas: number): string[] {
  return Array.from({ length: replicas }, (_, at) => `${service}-${at + 1}`);
}

/** The client has read the end, so the supervisor need not stay for others. */
async function reap(kernel: KernelApi, pid: Pid): Promise<void> {
  try {
    await kernel.init.reap(pid);
  } catch (error) {
    // another client was faster, or a project of that name was started again
    if (!(error instanceof Fault)) throw error;
  }
}
