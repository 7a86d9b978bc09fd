/** What the flags of a run, or of a new session, ask for. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { SpawnRequest } from "../abi/methods.ts";
import { PERMISSION_MODES, type PermissionMode } from "../abi/process.ts";
import { type Args, countFlag, textFlag } from "./args.ts";
import { clientEnvironment } from "./environment.ts";
import type { Host } from "./host.ts";
import { invalid } from "./screen/errors.ts";

/** All of the request but the intent. What is not set is left to the agent file and the settings. */
export function requestOptions(args: Args, host: Host): Omit<SpawnRequest, "intent"> {
  const agent = textFlag(args, "agent");
  const model = textFlag(args, "model");
  const maxSteps = countFlag(args, "max-steps");
  const budget = countFlag(args, "budget");
  const mode = permissionMode(args);
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(maxSteps === 0 ? {} : { max_steps: maxSteps }),
    ...(budget === 0 ? {} : { budget }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    cwd: workingDirectory(args, host),
    env: clientEnvironment(host.env),
    // elapsed time, notice, tool and log lines come only to clients that ask for them
    verbose: true,
  };
}

function permissionMode(args: Args): PermissionMode | undefined {
  const mode = textFlag(args, "permission-mode");
  const known = PERMISSION_MODES.find((each) => each === mode);
  if (mode === undefined || known !== undefined) return known;
  throw invalid(`unknown permission mode: ${mode}`, `modes: ${PERMISSION_MODES.join(", ")}`);
}

export function workingDirectory(args: Args, host: Host): string {
  const given = textFlag(args, "cwd");
  if (given === undefined) return host.cwd;
  const path = resolve(host.cwd, given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Fault({ code: "NOT_FOUND", message: `directory not found: ${given}` });
}
