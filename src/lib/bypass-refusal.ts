/** Refuses bypass mode for root, except in a container or sandbox, where damage can be thrown away. */
import { existsSync, readFileSync } from "node:fs";

export interface Surroundings {
  /** undefined: the system has no user ids. */
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  /** The text of the file; "" if it cannot be read. */
  read(path: string): string;
}

/** Why bypass mode may not be entered; "": it may. */
export function bypassRefusal({ uid, env, exists, read }: Surroundings = real()): string {
  if (uid !== 0) return "";
  const isInside =
    env.IS_SANDBOX === "1" ||
    (env.container ?? "") !== "" ||
    ["/.dockerenv", "/run/.containerenv"].some(exists) ||
    /docker|containerd|kubepods|libpod|lxc/.test(read("/proc/1/cgroup"));
  if (isInside) return "";
  return "bypass mode does everything unasked, and this is root outside a container: run crux as another user, or in a container (IS_SANDBOX=1 says that it is one)";
}

function real(): Surroundings {
  return {
    uid: process.getuid?.(),
    env: process.env,
    exists: existsSync,
    read: (path) => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return "";
      }
    },
  };
}
