import { composeNotices, parseComposeFile } from "../../../abi/compose-file.ts";
import { resolvedComposeFile } from "../../../abi/compose-resolved.ts";
import type { Params } from "../../../abi/methods.ts";
import type { Handler } from "../handler.ts";
import { invalid } from "../request.ts";

export const composeConfig: Handler<"compose.config"> = async (params) => {
  const project = projectOf(params);
  return {
    payload: {
      project: project.name,
      file: resolvedComposeFile(project),
      notices: composeNotices(project),
    },
  };
};

/** The file of a request, checked whole before anything is done with it. */
export function projectOf({ file, dir, project }: Params<"compose.config">) {
  if (!dir.startsWith("/")) throw invalid(`payload.dir: must be absolute: ${dir}`);
  return parseComposeFile(file, { dir, project });
}
