import { expect, it } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { ChildClient, KernelApi } from "../../kernel/ports/kernel-api.ts";
import { kernelFor } from "./process-kernel.ts";

it("whatever follows a process tells each piece once the program's own process has its labels", async () => {
  const order: string[] = [];
  const pieces = () => ({
    dropped: 3,
    close: () => void order.push("closed"),
    async *[Symbol.asyncIterator]() {
      for (const piece of ["one", "two"]) yield piece;
    },
  });
  const kernel = {
    logs: async () => pieces(),
    attach: () => pieces(),
    requests: { find: async () => undefined, rejoin: async () => pieces() },
  } as unknown as KernelApi;
  const client: ChildClient = {
    pid: asPid(7),
    uuid: asProcUuid("u"),
    line: "l",
    isPersons: false,
    list: () => [],
    sees: () => true,
    controls: () => true,
    hears: async (pid) => void order.push(`hears ${pid}`),
    sys: { spawn: async () => asPid(9) } as unknown as ChildClient["sys"],
  };
  const own = kernelFor(kernel, client);
  const followed = [
    await own.logs(asPid(9), { tail: 1, follow: true }),
    await own.requests.rejoin(asPid(9), {}),
    (await own.spawnWatched("x", null, {})).events,
  ];
  for (const events of followed) {
    for await (const piece of events) order.push(String(piece));
    events.close();
    expect(events.dropped).toBe(3);
    expect(order.splice(0)).toEqual(["hears 9", "one", "hears 9", "two", "closed"]);
  }
});
