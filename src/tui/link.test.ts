import { expect, test } from "vitest";
import type { Host } from "../cli/host/host.ts";
import { Link } from "./link.ts";

const item = (text: string) => ({ role: "user", text, calls: [], at: "", seq: 1 });

test("Link shows what was said before the session is open, and then what was said since", async () => {
  const told: string[] = [];
  const opening = Promise.withResolvers<void>();
  const pages = [[item("one")], [item("one"), item("two")]];
  const client = {
    request: async () => ({ messages: pages.shift() ?? [] }),
    stream: async () => {
      await opening.promise;
      const lines = (async function* () {
        yield { payload: { event: "complete", exit_code: 0 } };
      })();
      return { response: { pid: 3 }, lines, close: () => {} };
    },
    close: () => {},
  };
  const host = { env: {}, daemon: { ensure: async () => client } } as unknown as Host;
  const words = (items: readonly { text: string }[]) => items.map(({ text }) => text).join();
  const follower = {
    known: ({ items }: { items: readonly { text: string }[] }) => {
      told.push(`known ${words(items)}`);
      opening.resolve();
    },
    opened: ({ items }: { items: readonly { text: string }[] }) => told.push(`opened ${words(items)}`),
    event: () => {},
    lost: () => {},
  };
  const link = new Link(host, "me", { follower, wait: async () => {} });
  expect(await link.follow({ kind: "session", pid: 3 })).toBe(0);
  expect(told).toEqual(["known one", "opened one,two"]);
});
