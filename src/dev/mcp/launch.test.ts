import { expect, test } from "vitest";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { launchOf } from "./launch.ts";

const OPEN: SandboxProfile = { write: ["/w"], protect: [], hide: ["/run"], show: [], network: "off" };
const keyOf = (sandbox: SandboxProfile | null) =>
  launchOf({ type: "stdio", command: "server", args: [], env: {} }, { env: {}, sandbox }, "/home/u").key;

test("launchOf() gives no server to two owners of whom one may do, reach or see less", () => {
  const others: (SandboxProfile | null)[] = [
    null,
    { ...OPEN, write: [] },
    { ...OPEN, network: "host" },
    { ...OPEN, hide: ["/run", "/w/private"] },
  ];
  for (const other of others) expect([other, keyOf(other)]).not.toEqual([other, keyOf(OPEN)]);
  expect(keyOf({ ...OPEN, protect: ["/w/.envrc"], tmp: "/scratch" })).toBe(keyOf(OPEN));
  expect(keyOf({ ...OPEN, hide: ["/a", "/run"] })).toBe(keyOf({ ...OPEN, hide: ["/run", "/a"] }));
});
