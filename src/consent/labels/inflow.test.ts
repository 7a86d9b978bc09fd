/** Labels come with what was read, and not with what was not. */
import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { DriverError, UnreadError } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { type Started, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";

const labelOf = (host: string): Label => ({ kind: "untrusted", source: "web", detail: host });
const reaching = (host: string): Effect => ({ kind: "network", host, port: 443, method: "GET" });
const bytes = (text: string): Uint8Array => Buffer.from(text);
const noHost = (): Promise<void> =>
  Promise.reject(new UnreadError({ op: "Write", code: "DRIVER", message: "no such host" }));
const said = (): Promise<void> =>
  Promise.reject(new DriverError({ op: "Write", code: "DRIVER", message: "answered 500: <its words>" }));

interface Bench {
  readonly k: TestKernel;
  readonly worker: Started;
  readonly web: MessageDevice;
  readonly tool: MessageDevice;
}

async function bench(): Promise<Bench> {
  const k = testKernel();
  const [web, tool] = [new MessageDevice("web"), new MessageDevice("fetch")];
  k.kernel.mount("/dev/web", web);
  k.kernel.mount("/bin/fetch", tool);
  Object.assign(k.permit, {
    origins: (_subject: unknown, { effects }: { effects: readonly Effect[] }) => ({
      labels: effects.flatMap((effect) => (effect.kind === "network" ? [labelOf(effect.host)] : [])),
      reads: [],
      writes: [],
    }),
  });
  web.script.effects = [reaching("a.io")];
  return { k, worker: await k.start(), web, tool };
}

async function call({ sys }: Started, path: string): Promise<void> {
  const fd = await sys.open(path, 2);
  await sys.write(fd, bytes("x")).finally(() => sys.close(fd));
}

describe("a device that fails", () => {
  test("with nothing read marks nothing, and keeps no record of it", async () => {
    const { k, worker, web } = await bench();
    web.script.act = noHost;
    await expect(call(worker, "/dev/web")).rejects.toThrow("no such host");
    expect(worker.proc.labels).toEqual([]);
    await k.journal.sync();
    expect(k.journal.kinds()).not.toContain("label.add");
  });

  test("with words of the other side marks", async () => {
    const { worker, web } = await bench();
    web.script.act = said;
    await expect(call(worker, "/dev/web")).rejects.toThrow("its words");
    expect(worker.proc.labels).toEqual([labelOf("a.io")]);
  });

  test("that ends well marks before its result is on record", async () => {
    const { k, worker, web } = await bench();
    const [began, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    web.script.act = async () => {
      began.resolve();
      await over.promise;
    };
    const fd = await worker.sys.open("/dev/web", 2);
    const first = worker.sys.write(fd, bytes("x"));
    await began.promise;
    expect(worker.proc.labels).toEqual([]);
    over.resolve();
    await first;
    expect(worker.proc.labels).toEqual([labelOf("a.io")]);
    await k.journal.sync();
    const kinds = k.journal.kinds();
    expect(kinds.lastIndexOf("label.add")).toBeLessThan(kinds.lastIndexOf("call.result"));
  });

  test("a command is marked before it runs: nobody sees what it reads", async () => {
    const { worker, web, k } = await bench();
    web.script.effects = [{ kind: "exec", argv: ["x"], cwd: "/", certain: true }, reaching("a.io")];
    web.script.act = async () => {
      expect(worker.proc.labels).toEqual([labelOf("a.io")]);
      await noHost();
    };
    await expect(call(worker, "/dev/web")).rejects.toThrow("no such host");
    expect(worker.proc.labels).toEqual([labelOf("a.io")]);
    await k.journal.sync();
  });
});

describe("a program under /bin", () => {
  const run = async (at: Bench, hosts: readonly string[]): Promise<void> => {
    at.tool.script.effects = ["a.io", "b.io"].map(reaching);
    at.tool.script.act = async (_data, { sys }) => {
      for (const host of hosts) {
        at.web.script.effects = [reaching(host)];
        const fd = await sys.open("/dev/web", 2);
        await sys.write(fd, bytes("x")).catch(() => {});
        await sys.close(fd);
      }
    };
    await call(at.worker, "/bin/fetch");
  };

  test("that was told of no host tells so itself, and marks nothing", async () => {
    const at = await bench();
    at.web.script.act = noHost;
    await run(at, ["a.io"]);
    const fd = await at.worker.sys.open("/bin/fetch", 2);
    await at.worker.sys.write(fd, bytes("x"));
    expect((await at.worker.sys.read(fd, 10)).byteLength).toBeGreaterThan(0);
    expect(at.worker.proc.labels).toEqual([]);
  });

  test("marks with what it has read of what it might have", async () => {
    const at = await bench();
    await run(at, ["b.io"]);
    expect(at.worker.proc.labels).toEqual([labelOf("b.io")]);
  });

  test("that makes no call of its own is taken at its word, whatever it returns", async () => {
    const at = await bench();
    await run(at, []);
    expect(at.worker.proc.labels).toEqual([labelOf("a.io"), labelOf("b.io")]);
  });
});

describe("an open file", () => {
  test("marks with its first bytes, not with its opening, nor with its end", async () => {
    const { worker, web } = await bench();
    web.script.openEffects = [reaching("a.io")];
    web.script.effects = [];
    const fd = await worker.sys.open("/dev/web", 2);
    await worker.sys.read(fd, 10);
    expect(worker.proc.labels).toEqual([]);
    await worker.sys.close(fd);
  });
});
