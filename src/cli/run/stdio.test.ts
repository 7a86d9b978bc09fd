import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type StreamKind, streamKind } from "../host/stream-kind.ts";
import { dataUse, isResultAlone } from "./stdio.ts";

test.each<[StreamKind, string]>([
  ["pipe", "to_its_end"],
  ["file", "to_its_end"],
  ["socket", "if_it_speaks"],
  ["device", "not_at_all"],
  ["none", "not_at_all"],
])("dataUse(%s) is %s", (kind, use) => {
  expect(dataUse(kind)).toBe(use);
});

test("isResultAlone() in a pipeline or a file, and only where no mode was named", () => {
  const kinds: StreamKind[] = ["pipe", "file", "socket", "device", "none"];
  expect(kinds.filter((kind) => isResultAlone(kind, "default"))).toEqual(["pipe", "file"]);
  for (const mode of ["json", "quiet", "verbose"] as const)
    expect(kinds.filter((kind) => isResultAlone(kind, mode))).toEqual([]);
});

test("streamKind() tells files, devices, folders and what is closed", () => {
  const dir = mkdtempSync(join(tmpdir(), "crux-stdio-"));
  const fds = [openSync(join(dir, "a"), "w"), openSync("/dev/null", "r"), openSync(dir, "r")];
  try {
    expect(fds.map(streamKind)).toEqual(["file", "device", "none"]);
    expect(streamKind(9_999)).toBe("none");
  } finally {
    fds.forEach(closeSync);
    rmSync(dir, { recursive: true });
  }
});
