/**
 * The sockets with a path that programs of this machine have bound, wherever they lie: a service is reached by such a
 * name without any network. Those of commands are not among them, since each sandbox has a network of its own; nor
 * are those of services in such a network, which the fixed places cover.
 */
import { readFileSync } from "node:fs";
import { kindOf } from "./protected.ts";

/** See proc_pid_net(5): the path is the last of the columns, and may contain blanks. */
const BOUND = /^(?:\S+ +){7}(\/.*)$/gm;

export function boundSockets(): readonly string[] {
  const paths = [...tableOf("/proc/net/unix").matchAll(BOUND)].map(([, path = ""]) => path);
  return [...new Set(paths)].filter((path) => kindOf(path) === "other");
}

/** Empty where the system has no such table. */
function tableOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
