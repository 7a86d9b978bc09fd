/** What a program shows of a device is judged and labelled as the device says, whatever the program declares. */
import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { UnreadError } from "../../abi/errors.ts";
import { MessageDevice } from "../testing/fake-devices.ts";
import { testKernel } from "../testing/test-kernel.ts";

const READ: Effect = { kind: "mcp", server: "notes", tool: "", host: "local" };
const LABEL = { kind: "untrusted", source: "mcp", detail: "notes" } as const;

async function bench() {
  const k = testKernel();
  const [notes, view] = [new MessageDevice("notes"), new MessageDevice("view")];
  Object.assign(notes, { shownEffects: () => [READ] });
  k.kernel.mount("/mnt/mcp/notes", notes);
  k.kernel.mount("/bin/view", view);
  const judged: (readonly Effect[])[] = [];
  Object.assign(k.permit, {
    origins: (_subject: unknown, { effects }: { effects: readonly Effect[] }) => {
      judged.push(effects);
      const isRead = effects.some(({ kind }) => kind === "mcp");
      return { labels: isRead ? [LABEL] : [], reads: [], writes: [] };
    },
  });
  const path = "/mnt/mcp/notes/tools";
  view.script.effects = [{ kind: "state", path }];
  view.script.act = async (_data, { sys }) => {
    const fd = await sys.open(path, 0).catch(() => undefined);
    if (fd === undefined) return;
    await sys.read(fd, 10).catch(() => {});
    await sys.close(fd);
  };
  const worker = await k.start();
  const call = async () => {
    const fd = await worker.sys.open("/bin/view", 2);
    await worker.sys.write(fd, Buffer.from("x")).finally(() => worker.sys.close(fd));
  };
  return { k, worker, notes, view, call, judged, path };
}

describe("a program that shows what lies behind a path", () => {
  test("is judged by what the device says, and labels with what it read", async () => {
    const { call, worker, judged, path, notes } = await bench();
    const read = { read: async () => Buffer.from("words"), write: async () => {}, close: async () => {} };
    notes.open = async () => ({
      ...read,
      stat: async () => ({ name: "", size: 0, isDevice: true, devicePath: "" }),
    });
    await call();
    expect(judged[0]).toEqual([{ kind: "state", path }, READ]);
    expect(worker.proc.labels).toEqual([LABEL]);
  });

  test("labels nothing where nothing was read", async () => {
    const { call, worker, notes } = await bench();
    notes.script.open = () =>
      Promise.reject(new UnreadError({ op: "Open", code: "NOT_FOUND", message: "no" }));
    await call();
    expect(worker.proc.labels).toEqual([]);
  });

  test("declares nothing of what is not mounted", async () => {
    const { k, call, judged, view } = await bench();
    view.script.effects = [{ kind: "state", path: "/mnt/mcp/other/tools" }];
    await call();
    expect(judged).toEqual([]);
    expect(k.journal.kinds()).not.toContain("label.add");
  });

  test("does so for programs alone: a process that opens a list itself is not judged", async () => {
    const { worker, judged, path } = await bench();
    await worker.sys.close(await worker.sys.open(path, 0));
    expect(judged).toEqual([]);
  });
});
