import { describe, expect, it } from "vitest";
import {
  codeCacheDir,
  configDir,
  ipcSocketPath,
  journalDir,
  parent,
  pidFile,
  runtimeDir,
  socketPath,
  stateDir,
} from "./paths.ts";

describe("paths", () => {
  it("runtimeDir() follows XDG_RUNTIME_DIR, else a folder of the user in /tmp", () => {
    expect(runtimeDir({ XDG_RUNTIME_DIR: "/run/user/1000" }, 1000)).toBe("/run/user/1000/crux");
    expect(runtimeDir({ XDG_RUNTIME_DIR: "/run/user/1000/" }, 1000)).toBe("/run/user/1000/crux");
    for (const unset of [undefined, "", "run/user"])
      expect(runtimeDir({ XDG_RUNTIME_DIR: unset }, 7)).toBe("/tmp/crux-7");
  });

  it("socketPath() is overridden by CRUX_SOCKET", () => {
    expect(socketPath({}, 7)).toBe("/tmp/crux-7/crux.sock");
    expect(socketPath({ CRUX_SOCKET: "/x/y.sock", XDG_RUNTIME_DIR: "/run" }, 7)).toBe("/x/y.sock");
    expect(pidFile("/x/y.sock")).toBe("/x/crux.pid");
  });

  it("ipcSocketPath() knows both names and no other", () => {
    expect(ipcSocketPath({ CRUX_IPC_SOCKET: "/a" })).toBe("/a");
    expect(ipcSocketPath({ KAIRO_IPC_SOCKET: "/b" })).toBe("/b");
    expect(ipcSocketPath({ CRUX_SOCKET: "/c", CRUX_IPC_SOCKET: "" })).toBeUndefined();
  });

  it("stateDir() and configDir() follow XDG, else the home", () => {
    expect(stateDir({}, "/h")).toBe("/h/.local/state/crux");
    expect(stateDir({ XDG_STATE_HOME: "/s" }, "/h")).toBe("/s/crux");
    expect(journalDir("/s/crux")).toBe("/s/crux/journal");
    expect(configDir({ XDG_CONFIG_HOME: "relative" }, "/h")).toBe("/h/.config/crux");
    expect(configDir({ XDG_CONFIG_HOME: "/c" }, "/h")).toBe("/c/crux");
  });

  it("codeCacheDir() follows XDG, else the home", () => {
    expect(codeCacheDir({ XDG_CACHE_HOME: "relative" }, "/h")).toBe("/h/.cache/crux");
    expect(codeCacheDir({ XDG_CACHE_HOME: "/c" }, "/h")).toBe("/c/crux");
  });

  it("parent() of names at the root, in a folder, bare", () => {
    expect([parent("/a"), parent("/a/b"), parent("a")]).toEqual(["/", "/a", "."]);
  });
});
