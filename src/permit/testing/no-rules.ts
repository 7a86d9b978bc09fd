/** The decision on a shell text in a trusted project, in default mode, without any user rule. */
import { bash, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";

const permit = makePermit({
  rules: [],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/home/u/.local/state/crux", "/run/user/1000/crux"],
  isTrusted: true,
  projectRoot: "/workspace",
  realPath: (path) => path,
  exists: (path) => path === "/workspace/.git",
});

/** The parser must be loaded. */
export function decidedWithoutRules(text: string): string {
  const effect = { ...bash(text), cwd: "/workspace" } as ReturnType<typeof bash>;
  return run(permit, "bash", [effect], subject({ cwd: "/workspace", roots: ["/workspace"], free: [] }))
    .behavior;
}
