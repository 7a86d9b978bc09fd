import { expect, test, vi } from "vitest";
import { nodeHost } from "./node-host.ts";

test("nodeHost() of a folder that was removed serves commands that need none", () => {
  using _gone = vi.spyOn(process, "cwd").mockImplementation(() => {
    throw new Error("ENOENT: process.cwd failed with error no such file or directory, uv_cwd");
  });
  const host = nodeHost("1.0.0", async () => 0);
  expect(() => host.cwd).toThrow(
    expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringMatching(/^cd /) }),
  );
});

test("nodeHost() refuses a folder whose name Node cannot read", () => {
  const path = Buffer.from([0x2f, 0x77, 0xff]).toString();
  using _odd = vi.spyOn(process, "cwd").mockReturnValue(path);
  expect(() => nodeHost("1.0.0", async () => 0).cwd).toThrow(expect.objectContaining({ code: "INVALID" }));
});
