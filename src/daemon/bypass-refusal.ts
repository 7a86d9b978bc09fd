/** Mode `bypass` as root: only in a container or sandbox, where what it breaks can be thrown away. */
import { existsSync, readFileSync } from "node:fs";

export interface Surroundings {
  /** undefined: the system has none. */
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  /** "" where it cannot be read. */
  read(path: string): string;
}

/** "" it may be entered. */
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
