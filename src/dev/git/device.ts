/**
 * /dev/git/<absolute host path>: the git status of a directory. The request `{"op":"status"}` is answered with git's
 * output.
 */
import type { Caller, Device, FileStat } from "../../abi/device.ts";
import { driverError } from "../driver-error.ts";
import { type Exchange, openExchange } from "../exchange-file.ts";
import { isDirectory } from "../program.ts";
import { type GitDeps, gitStatus } from "./status.ts";

const stat: FileStat = { name: "git", size: 0, isDevice: true, devicePath: "/dev/git" };

export function gitDevice(deps: GitDeps): Device {
  return {
    name: "git",
    traffic: "message",
    open: async (subpath, flags, caller) =>
      openExchange(statusOf(deps, subpath === "" ? "/" : subpath, caller), flags, caller),
    stat: async () => stat,
  };
}

function statusOf(deps: GitDeps, path: string, { pid, killed }: Caller): Exchange {
  return {
    stat,
    plan: (data) => {
      checkRequest(data);
      return { effects: [{ kind: "read", path, subtree: true }], effectClass: "none" };
    },
    answer: async (data, { sandbox = null }, signal) => {
      checkRequest(data);
      if (!isDirectory(path)) throw driverError("Write", "NOT_FOUND", `directory not found: ${path}`);
      const run = { cwd: path, owner: `pid ${pid} git`, sandbox, killed };
      return Buffer.from(await gitStatus(deps, run, signal));
    },
  };
}

function checkRequest(bytes: Uint8Array): void {
  if (Buffer.from(bytes).toString("utf8").replaceAll(/\s/g, "") !== '{"op":"status"}')
    throw driverError("Write", "INVALID", 'git: not a request: {"op":"status"} is the only one');
}
