import type { Entry } from "./entry.ts";

/** `mcp__server__tool` is a tool of that server. */
export function entry(name: string, description = "", hint = ""): Entry {
  const server = /^mcp__(.+?)__/.exec(name)?.[1] ?? "";
  const path = server === "" ? `/bin/${name}` : `/mnt/mcp/${server}/tools/${name.split("__")[2]}`;
  return { name, description, hint, server, path, parallel: false, inputSchema: { type: "object" } };
}
