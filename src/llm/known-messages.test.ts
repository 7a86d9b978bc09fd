import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireMessage } from "../abi/llm.ts";
import { contractRequest } from "./contract.ts";
import { KnownMessages } from "./known-messages.ts";
import { parseWrite } from "./request.ts";

const DEVICE = "/dev/llm/test";
const file = {};

function requestOf(messages: readonly WireMessage[], more: object = {}): string {
  const { messages: _, maxOutputTokens, ...rest } = contractRequest();
  return JSON.stringify({ ...rest, ...more, messages, maxOutputTokens, last: [1] });
}

function read(text: string, known?: KnownMessages): unknown {
  try {
    return parseWrite(Buffer.from(text), DEVICE, "m", known && { file, known });
  } catch (error) {
    return String(error);
  }
}

function conversation(turns: number): WireMessage[] {
  const messages: WireMessage[] = [{ role: "user", content: [{ type: "text", text: "go – ünd" }] }];
  for (let n = 1; n <= turns; n++) {
    const id = `t${n}`;
    messages.push({ role: "assistant", content: [{ type: "tool_use", id, name: "ls", input: { n } }] });
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "]}" }] });
  }
  return messages;
}

describe("parseWrite() with what is known", () => {
  it("counts what surrounds the messages, too: a small request with a large system prompt is dropped", () => {
    const known = new KnownMessages();
    const text = requestOf(conversation(1), { system: [{ text: "s".repeat(1024 * 1024), zone: "static" }] });
    const files = Array.from({ length: 9 }, () => ({}));
    for (const each of files) parseWrite(Buffer.from(text), DEVICE, "m", { file: each, known });
    const bytes = Buffer.from(JSON.stringify(conversation(1)).slice(1, -1));
    const isKnown = (each: object) =>
      known.before(each, Buffer.concat([bytes, Buffer.from(",")])).messages.length > 0;
    expect(files.map(isKnown)).toEqual([false, false, ...Array(7).fill(true)]);
  });

  it("keeps the messages that it has read before, and reads the rest", () => {
    const known = new KnownMessages();
    const [first, second] = [conversation(2), conversation(3)].map((messages) =>
      parseWrite(Buffer.from(requestOf(messages)), DEVICE, "m", { file, known }),
    );
    expect(second?.request.messages).toEqual(conversation(3));
    for (const [at, message] of (first?.request.messages ?? []).entries())
      expect(second?.request.messages[at]).toBe(message);
  });

  it("keeps what each file was given, when one goes on where another has gone on differently", () => {
    const known = new KnownMessages();
    const said = (...words: string[]) =>
      words.map((word): WireMessage => ({ role: "user", content: [{ type: "text", text: word }] }));
    for (const words of [["a"], ["a", "b"], ["a"], ["a", "c"], ["a", "c", "d"], ["a", "b", "d"]]) {
      const text = requestOf(said(...words));
      expect(read(text, known)).toEqual(read(text));
    }
  });

  it("keeps what surrounds them, whatever the id, until any of it is another", () => {
    const known = new KnownMessages();
    const given = [{ requestId: "r1" }, { requestId: "r2" }, { requestId: "r3", stream: false }].map(
      (more, turns) =>
        parseWrite(Buffer.from(requestOf(conversation(turns), more)), DEVICE, "m", { file, known }).request,
    );
    expect(given.map(({ requestId, stream }) => [requestId, stream])).toEqual([
      ["r1", true],
      ["r2", true],
      ["r3", false],
    ]);
    expect(given[1]?.system).toBe(given[0]?.system);
    expect(given[2]?.system).not.toBe(given[0]?.system);
  });

  it("gives all files one copy of the same tools and of the same fixed text, and none of what differs", () => {
    const known = new KnownMessages();
    const system = (cwd: string) => [
      { text: "You are an agent.", zone: "static" },
      { text: cwd, zone: "dynamic" },
    ];
    const of = (cwd: string, more: object = {}) => {
      const text = requestOf(conversation(1), { system: system(cwd), ...more });
      return parseWrite(Buffer.from(text), DEVICE, "m", { file: {}, known }).request;
    };
    const [one, other] = [of("/a"), of("/b")];
    expect(other.tools).toBe(one.tools);
    expect(other.system[0]).toBe(one.system[0]);
    expect(other.system[1]).toEqual({ text: "/b", zone: "dynamic" });
    const tools = [...one.tools, { name: "more", description: "", inputSchema: {} }];
    expect(of("/c", { tools }).tools).toEqual(tools);
  });

  it("gives another file what surrounds its messages and begins them, where that is the same, and keeps no more", () => {
    const known = new KnownMessages();
    const told: WireMessage = { role: "user", content: [{ type: "text", text: "told ".repeat(200) }] };
    const of = (...messages: WireMessage[]) => {
      const text = requestOf(messages, { system: [{ text: "/a", zone: "dynamic" }] });
      return parseWrite(Buffer.from(text), DEVICE, "m", { file: {}, known }).request;
    };
    const [one, other] = [of(told, ...conversation(1)), of(told, ...conversation(2))];
    expect(other.system).toBe(one.system);
    expect(other.messages[0]?.content[0]).toBe(one.messages[0]?.content[0]);
    expect(other.messages.slice(1)).toEqual(conversation(2));
  });

  it("keeps nothing of the request's own buffer", () => {
    const known = new KnownMessages();
    const written = Buffer.from(requestOf(conversation(1)));
    parseWrite(written, DEVICE, "m", { file, known });
    written.fill("x");
    const next = Buffer.from(`${JSON.stringify(conversation(1)).slice(1, -1)},more`);
    expect(known.before(file, next).more.toString()).toBe("more");
    expect(
      parseWrite(Buffer.from(requestOf(conversation(1))), DEVICE, "m", { file: {}, known }).request,
    ).toEqual(parseWrite(Buffer.from(requestOf(conversation(1))), DEVICE, "m").request);
  });

  it("reads an id that is given twice as any reader does", () => {
    for (const name of ["requestId", "request\\u0049d"]) {
      const known = new KnownMessages();
      for (const id of ["last", "r2"]) {
        const twice = requestOf(conversation(1), { requestId: id }).replace(/}$/, `,"${name}":"last"}`);
        expect(parseWrite(Buffer.from(twice), DEVICE, "m", { file, known }).request.requestId).toBe("last");
      }
    }
  });

  it("tells of a wrong message by its place in all of them", () => {
    const known = new KnownMessages();
    read(requestOf(conversation(2)), known);
    const wrong = [...conversation(2), { role: "user", content: [] }] as WireMessage[];
    expect(read(requestOf(wrong), known)).toMatch(/messages\.5\.content/);
  });

  it("gives what is given without it, whatever is written after one another", () => {
    const ends = [
      ...[
        "",
        ",",
        '],"messages":[',
        '],"x":[1',
        ',{"role":"user","content":[]}',
        ',{"a":{"messages":[{}]}}',
        "]",
      ],
      `,${JSON.stringify({ role: "user", content: [{ type: "text", text: ',"messages":[],"maxOutputTokens":' }] })}`,
      '],"maxOutputTokens":1,"x":[2',
    ];
    const extra = [
      {},
      { requestId: "r2" },
      { requestId: 'a"b' },
      { x: { a: 1, messages: [{}], maxOutputTokens: 2 } },
      { x: [1] },
    ];
    const text = fc
      .tuple(fc.nat({ max: 3 }), fc.constantFrom(...extra), fc.constantFrom(...ends), fc.boolean())
      .map(([turns, more, end, isFirst]) => {
        const whole = requestOf(conversation(turns), more).replace('],"maxOut', () => `${end}],"maxOut`);
        return isFirst ? whole : whole.replace("{", '{"messages":[],');
      });
    const texts = fc.array(text, { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(texts, (list) => {
        const known = new KnownMessages();
        for (const each of list) expect(withoutIds(read(each, known))).toEqual(withoutIds(read(each)));
      }),
      { numRuns: 500 },
    );
  });

  it("forgets the file that was used longest ago when all of them hold too much", () => {
    const known = new KnownMessages();
    const bytes = Buffer.alloc(5 * 1024 * 1024, "x");
    const next = Buffer.concat([bytes, Buffer.from(",y")]);
    const [one, two] = [{}, {}];
    const request = contractRequest({ messages: [] });
    const parts = (messages: Buffer) => {
      const none = Buffer.alloc(0);
      return { id: undefined, before: none, after: none, messages, digest: () => "", rest: () => none };
    };
    known.keep(one, parts(bytes), request);
    expect(known.before(one, next).more.toString()).toBe("y");
    known.keep(two, parts(bytes), request);
    expect(known.before(one, next).more).toBe(next);
    expect(known.before(two, next).more.toString()).toBe("y");
    known.forget(two);
    expect(known.before(two, next).more).toBe(next);
  });
});

/** The short form gets an id of its own each time. */
function withoutIds(result: unknown): unknown {
  if (typeof result !== "object" || result === null || !("request" in result)) return result;
  return { ...result, request: { ...(result.request as object), requestId: "" } };
}
