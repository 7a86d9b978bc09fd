import { expect, test } from "vitest";
import type { Caller, OpenFile, OpenFlag } from "../../abi/device.ts";
import { asPid } from "../../abi/ids.ts";
import type { Subject } from "../ports/permit.ts";
import { ByteDevice } from "../testing/fake-devices.ts";
import { testKernel } from "../testing/test-kernel.ts";

/** Asks of each caller whether `fetch` and `ls` are hidden from it. */
class Looking extends ByteDevice {
  readonly seen: unknown[] = [];
  override async open(subpath: string, _flags?: OpenFlag, caller?: Caller): Promise<OpenFile> {
    this.seen.push(["fetch", "ls"].filter((tool) => caller?.hides?.(tool)));
    return super.open(subpath);
  }
}

function looking() {
  const t = testKernel();
  const subjects: Subject[] = [];
  let failure: Error | undefined;
  const hides = (subject: Subject, tool: string): boolean => {
    if (failure !== undefined) throw failure;
    subjects.push(subject);
    return subject.rights?.deny.some(({ text }) => text === tool) === true;
  };
  Object.assign(t.permit, { hides });
  const device = new Looking();
  t.kernel.mount("/bin", device);
  return {
    t,
    device,
    subjects,
    fail: (error: Error): void => {
      failure = error;
    },
  };
}

test("a device hears which tools the caller may not call at all, as its rights are now", async () => {
  const { t, device, subjects } = looking();
  const { sys, pid } = await t.start({ rights: { deny: ["fetch"] } });
  await sys.open("/bin/x", 0);
  expect(device.seen).toEqual([["fetch"]]);
  expect(subjects.map((subject) => subject.pid)).toEqual([pid, pid]);
  // looked at once in a turn of the event loop
  expect(subjects[0]).toBe(subjects[1]);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([sys.open("/bin/x", 0), sys.open("/bin/x", 0)]);
  expect(subjects[2]).not.toBe(subjects[1]);
  expect(subjects[5]).toBe(subjects[2]);
});

test("nothing is hidden from the kernel's own clients, nor where the policy fails: its calls ask then", async () => {
  const { t, device, fail } = looking();
  await t.init.open("/bin/x", 0);
  const { sys } = await t.start({ rights: { deny: ["fetch"] } });
  fail(new Error("unreadable"));
  await sys.open("/bin/x", 0);
  expect(device.seen).toEqual([[], []]);
  expect(t.init.getPid()).toBe(asPid(0));
});
