import type { ComposeProject } from "../../../../abi/compose/compose.ts";
import { parseComposeFile } from "../../../../abi/compose/file.ts";
import { resolvedComposeFile } from "../../../../abi/compose/resolved.ts";
import { Fault } from "../../../../abi/errors.ts";
import type { Params } from "../../../../abi/methods/methods.ts";
import type { ServerDeps } from "../../deps.ts";
import type { Handler } from "../../handler.ts";
import { invalid } from "../../request.ts";

export const composeConfig: Handler<"compose.config"> = async (params, { deps }) => {
  const project = projectOf(params);
  await checkAgents(project, deps, deps.env);
  return {
    payload: {
      project: project.name,
      file: resolvedComposeFile(project),
      notices: [],
    },
  };
};

/** The file of a request, validated completely before it has any effect. */
export function projectOf({ file, dir, project }: Params<"compose.config">) {
  if (!dir.startsWith("/")) throw invalid(`payload.dir: must be absolute: ${dir}`);
  return parseComposeFile(file, { dir, project });
}

type Env = Readonly<Record<string, string>>;

/** Called before anything starts. NOT_FOUND with the path of the service and the available agents. */
export async function checkAgents({ services }: ComposeProject, deps: ServerDeps, env: Env): Promise<void> {
  for (const { name, program, cwd } of services) {
    if (program.kind !== "agent") continue;
    try {
      await deps.loadAgent(program.agent, { cwd, env });
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause;
      const { code, message, hint } = cause;
      throw new Fault({ code, message: `services.${name}.agent: ${message}`, hint, cause });
    }
  }
}
