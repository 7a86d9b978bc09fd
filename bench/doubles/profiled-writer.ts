/** In the place of store/sqlite/writer-thread.ts: the same thread, which profiles itself from its first task on, or its `PROFILE_FROM`-th. */
import { writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { ProfiledSeed } from "../parts/event-stages.ts";
import { beginProfile } from "../parts/profile.ts";

const { profile, fromTask } = workerData as ProfiledSeed;
let tasks = 0;
let end: ReturnType<typeof beginProfile> | undefined;
// before the thread itself listens: it closes its port with the last task
parentPort?.on("message", (task: { readonly do: string }) => {
  if (++tasks === fromTask) end = beginProfile();
  if (task.do === "close")
    void end?.then(async (stop) => writeFileSync(profile, JSON.stringify(await stop())));
});
await import("../../src/store/sqlite/writer-thread.ts");
