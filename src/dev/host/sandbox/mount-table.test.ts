import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { areInPlace, MountTable } from "./mount-table.ts";

it("areInPlace() is true for mounts of what lies at their paths, and false for one that is missing or another's", async () => {
  const host = new MountTable(() => undefined).read();
  const proc = { op: "read", path: "/proc" } as const;
  const of = (mounts: Parameters<typeof areInPlace>[0], list = host, pid = process.pid) =>
    areInPlace(mounts, pid, list);
  expect(await of([{ op: "write", path: "/" }, proc])).toBe(true);
  expect(await of([proc, { op: "write", path: `${tmpdir()}/no/mount/point` }])).toBe(false);
  expect(await of([{ op: "place", path: "/proc", from: "/sys" }])).toBe(false);
  expect(await of([{ op: "blank", path: "/proc", kind: "directory" }])).toBe(false);
  expect(await of([{ op: "blank", path: "/proc", kind: "file" }])).toBe(false);
  // another folder of the same file system
  const shifted = host.replace(/^(\d+ \d+ \S+) \/ \/proc /m, "$1 /elsewhere /proc ");
  expect(await of([proc], shifted)).toBe(false);
  // what cannot be looked at says nothing
  expect(await of([{ op: "write", path: "/no" }], host, 2 ** 22)).toBe(true);
  expect(await of([{ op: "write", path: "/no" }], "")).toBe(true);
});
