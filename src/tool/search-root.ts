/** The start of a search, as the caller named it. */
import type { HostStat } from "../abi/device.ts";
import { failure } from "./failure.ts";
import { findStat, type Io } from "./files.ts";
import { hostPath, isCruxPath } from "./path.ts";

type From = Io & { readonly cwd: string };

/** The absolute path of an existing host file or directory, and its kind. */
export async function requireExisting(
  from: From,
  given: string,
): Promise<{ path: string; kind: HostStat["kind"] }> {
  const path = hostPath(given, from.cwd);
  const stat = await findStat(from, path);
  if (stat === undefined) throw failure("NOT_FOUND", `path not found: ${given === "" ? path : given}`);
  return { path, kind: stat.kind };
}

/** The absolute path of an existing host directory. */
export async function requireDirectory(from: From, given: string): Promise<string> {
  if (isCruxPath(hostPath(given, from.cwd)))
    throw failure("INVALID", `not a directory of the host: ${given}`, "Use ls or view there");
  const { path, kind } = await requireExisting(from, given);
  if (kind !== "directory") throw failure("INVALID", `not a directory: ${given}`, "Use view to read a file");
  return path;
}
