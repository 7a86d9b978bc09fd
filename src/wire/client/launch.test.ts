import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { launchDaemon } from "./launch.ts";

const launched = (stateDir: string) =>
  launchDaemon({ command: ["/nowhere"], env: {}, stateDir, runtimeDir: "/dev/null/run" });

test("launchDaemon() says why its folder cannot be made", () => {
  expect(launched("/dev/null/state/crux")).toMatchObject({
    ended: true,
    error: { code: "ENOTDIR", syscall: "mkdir", path: "/dev/null/state" },
  });
});

test.skipIf(!existsSync("/proc/self"))("launchDaemon() ends below a folder that takes no folders", () => {
  expect(launched("/proc/nowhere/state/crux")).toMatchObject({ ended: true, error: { syscall: "mkdir" } });
});
