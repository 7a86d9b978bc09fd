/**
 * The compose file of a project that an earlier daemon left: read and validated again, as the client and the daemon
 * did.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { ComposeProject } from "../../abi/compose/compose.ts";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { ProjectSource } from "../../kernel/ports/projects.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * `env` supplies the values of its variables. Rejects with the reason: the file is missing, is not a regular file, or
 * is not valid.
 */
export async function loadComposeProject(
  { path, dir, name }: ProjectSource,
  env: Readonly<Record<string, string>>,
): Promise<ComposeProject> {
  const text = await readText(path);
  // loaded on demand: few daemons need these modules
  const [{ parseComposeYaml }, { interpolate }, { parseComposeFile }] = await Promise.all([
    import("../../abi/compose/yaml.ts"),
    import("../../abi/compose/variables.ts"),
    import("../../abi/compose/file.ts"),
  ]);
  const file = interpolate(parseComposeYaml(basename(path), text), env);
  return parseComposeFile(file, { dir, ...(name === "" ? {} : { project: name }) });
}

/** Opens without blocking: a named pipe at this path would otherwise keep the daemon from starting. */
async function readText(path: string): Promise<string> {
  await using handle = await opened(path);
  const stat = await handle.stat();
  if (!stat.isFile()) throw invalid("it is not a file that can be read again");
  if (stat.size > MAX_BYTES) throw invalid(`longer than ${MAX_BYTES} bytes`);
  return await handle.readFile("utf8");
}

async function opened(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
    throw invalid(code === "ENOENT" ? "it is gone" : `it cannot be read (${code})`);
  }
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}
