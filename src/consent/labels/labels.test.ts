import { describe, expect, it } from "vitest";
import type { WritePlan } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { readHistory } from "../../history/recover/history-reader.ts";
import { labelsFacet } from "../../kernel/labels/facet.ts";
import { showSecrets } from "../../kernel/redact/model-bound.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { type Started, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { Redactor } from "../../lib/redact/redact.ts";

const WEB: Label = { kind: "untrusted", source: "web", detail: "https://a.io/x" };
const SECRET: Label = { kind: "secret", source: "file", detail: "/ws/.env" };
const BY = { principal: "user", client: "", uid: null } as const;

/** What the process reads in its next call comes from there. */
async function reads(k: TestKernel, { sys }: Started, label: Label): Promise<void> {
  Object.assign(k.permit, { origins: () => ({ labels: [label], reads: [], writes: [] }) });
  const fd = await sys.open("/dev/page", 2);
  await sys.write(fd, Buffer.from("x"));
  await sys.close(fd);
  Object.assign(k.permit, { origins: undefined });
}

class Page extends MessageDevice {
  override async open(...args: Parameters<MessageDevice["open"]>) {
    const file = await super.open(...args);
    const effect: Effect = { kind: "network", host: "a.io", port: 443, method: "GET" };
    const plan = (): WritePlan => ({ effects: [effect], effectClass: "repeat" });
    return { ...file, plan };
  }
}

function kernel(...args: Parameters<typeof testKernel>): TestKernel {
  const k = testKernel(...args);
  k.kernel.mount("/dev/page", new Page("page"));
  return k;
}

const kinds = (k: TestKernel): readonly string[] =>
  k.journal.records.map(({ kind }) => kind).filter((kind) => kind.startsWith("label."));

describe("labels of a process", () => {
  it("come with what a permitted call reads, once, and are what the policy sees from then on", async () => {
    const k = kernel();
    const worker = await k.start();
    await reads(k, worker, WEB);
    await reads(k, worker, WEB);
    await reads(k, worker, SECRET);
    expect(worker.proc.labels).toEqual([WEB, SECRET]);
    expect(k.permit.asked.at(-1)?.subject.labels).toEqual([WEB]);
    await k.journal.sync();
    expect(kinds(k)).toEqual(["label.add", "label.add"]);
    expect((await k.kernel.rights.labels(worker.pid)).length).toBe(2);
    worker.end();
  });

  it("go to a child, and from a child to who waits for it", async () => {
    const k = kernel();
    const parent = await k.start();
    await reads(k, parent, WEB);
    const child = await k.start({ by: parent.sys });
    expect(child.proc.labels).toEqual([WEB]);
    await reads(k, child, SECRET);
    expect(parent.proc.labels).toEqual([WEB]);
    child.end();
    await parent.sys.wait(child.pid);
    expect(parent.proc.labels).toEqual([WEB, SECRET]);
    parent.end();
  });

  it("go with a message and through a pipe, to who reads it and not before", async () => {
    const k = kernel();
    const from = await k.start();
    await reads(k, from, WEB);
    const child = await k.start({ by: from.sys });
    const { writeFd, readFd } = await from.sys.pipe(from.pid, child.pid);
    child.proc.facts.set(labelsFacet, []);
    await reads(k, from, SECRET);
    await from.sys.write(writeFd, Buffer.from("bytes"));
    expect(child.proc.labels).toEqual([]);
    await child.sys.read(readFd, 10);
    expect(child.proc.labels).toEqual([WEB, SECRET]);
    child.proc.facts.set(labelsFacet, []);
    await from.sys.send(child.pid, Buffer.from("words"));
    expect(child.proc.labels).toEqual([]);
    await child.sys.recv();
    expect(child.proc.labels).toEqual([WEB, SECRET]);
    for (const each of [from, child]) each.end();
  });

  it("are there again from the records, gone before the read, and less after a person's word", async () => {
    const k = kernel();
    const worker = await k.start();
    const { uuid } = worker.proc.seed;
    await k.journal.sync();
    const before = k.journal.records.filter(({ proc }) => proc === uuid).length;
    await reads(k, worker, WEB);
    await reads(k, worker, SECRET);
    await k.journal.sync();
    const labelsAt = async (of: ProcUuid, atMost?: number) =>
      (await readHistory(k.journal, of, atMost)).of(labelsFacet);
    expect(await labelsAt(uuid)).toEqual([WEB, SECRET]);
    expect(await labelsAt(uuid, before)).toEqual([]);
    await expect(k.kernel.rights.clearLabels(worker.pid, "mcp", BY)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await k.kernel.rights.clearLabels(worker.pid, "web", BY)).toEqual([SECRET]);
    expect(await labelsAt(uuid)).toEqual([SECRET]);
    worker.end();
  });

  it("are those of a fork as at its place", async () => {
    const k = kernel();
    const worker = await k.start();
    await worker.sys.appendMessage(worker.start.ctxId, "assistant", "one", []);
    await reads(k, worker, WEB);
    await worker.sys.appendMessage(worker.start.ctxId, "assistant", "two", []);
    await k.journal.sync();
    const [first, second] = [
      await k.kernel.forks.fork(worker.pid, { at: { step: 1 } }),
      await k.kernel.forks.fork(worker.pid, { at: { step: 2 } }),
    ];
    expect((await readHistory(k.journal, first.uuid)).of(labelsFacet)).toEqual([]);
    expect((await readHistory(k.journal, second.uuid)).of(labelsFacet)).toEqual([WEB]);
    worker.end();
  });

  it("count as untrusted where the policy fails", async () => {
    const k = kernel();
    const worker = await k.start();
    Object.assign(k.permit, {
      origins: () => {
        throw new Error("a fault");
      },
    });
    const fd = await worker.sys.open("/dev/page", 2);
    await worker.sys.write(fd, Buffer.from("x"));
    expect(worker.proc.labels).toMatchObject([{ kind: "untrusted" }]);
    worker.end();
  });
});

describe("what a model is sent", () => {
  it("has marks for secrets, unless a person let them be read; what is kept has marks all the same", async () => {
    const redactor = new Redactor(new Uint8Array(32));
    redactor.learn(["planted-0815"]);
    const k = kernel({ redactor });
    const worker = await k.start({ env: { A_TOKEN: "planted-4711" } });
    const { ctxId } = worker.start;
    await worker.sys.appendMessage(ctxId, "user", "use planted-0815 and planted-4711");
    await worker.sys.appendToolResult(ctxId, "c1", "it printed planted-0815");
    const said = (await worker.sys.buildPrompt(ctxId)).messages.map(({ content }) => content);
    expect(said.slice(1)).toEqual([
      expect.stringMatching(/^use \[redacted:known:[0-9a-f]{6}\] and \[redacted:known:[0-9a-f]{6}\]$/),
      expect.stringMatching(/^it printed \[redacted:known:[0-9a-f]{6}\]$/),
    ]);
    showSecrets(k.kernel, worker.proc, new TextEncoder().encode("planted-0815"));
    await worker.sys.appendToolResult(ctxId, "c2", "it is planted-0815");
    expect((await worker.sys.buildPrompt(ctxId)).messages.at(-1)?.content).toBe("it is planted-0815");
    worker.end();
  });
});
