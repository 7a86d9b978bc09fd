/** A bare HTTP client for the tests: no retries, no agent, every chunk as it came from the socket. */
import { type ClientRequest, type IncomingHttpHeaders, request } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly chunks: readonly Buffer[];
  readonly text: string;
  /** False when the connection broke before the end of the body. */
  readonly isComplete: boolean;
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

export interface RawCall {
  readonly answer: Promise<RawAnswer>;
  readonly request: ClientRequest;
}

export function send(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): RawCall {
  const done = Promise.withResolvers<RawAnswer>();
  const call = request(url, {
    method,
    agent: false,
    headers: { "content-type": "application/json", ...headers },
  });
  let hasAnswer = false;
  // a reset in mid body fails the request too; by then the response tells what came
  call.on("error", (failure) => {
    if (!hasAnswer) done.reject(failure);
  });
  call.on("response", (response) => {
    hasAnswer = true;
    const chunks: Buffer[] = [];
    const settle = () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const { headers, statusCode: status = 0, complete: isComplete } = response;
      done.resolve({ status, headers, chunks, text, isComplete });
    };
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", () => {});
    response.on("close", settle);
  });
  call.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  return { answer: done.promise, request: call };
}

const version = { "anthropic-version": "2023-06-01" };

export function askAnthropic(server: { url: string }, part: object = {}, headers = {}): Promise<RawAnswer> {
  return send(`${server.url}/v1/messages`, anthropicBody(part), { ...version, ...headers }).answer;
}

export function askOpenai(
  server: { openaiBaseUrl: string },
  part: object = {},
  headers = {},
): Promise<RawAnswer> {
  return send(`${server.openaiBaseUrl}/chat/completions`, openaiBody(part), headers).answer;
}

export function anthropicBody(part: object = {}): object {
  return {
    model: "claude-test",
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: "hello" }],
    ...part,
  };
}

export function openaiBody(part: object = {}): object {
  return { model: "gpt-test", stream: true, messages: [{ role: "user", content: "hello" }], ...part };
}

/** Events of a stream, comments and other fields left out. */
export function readSse(text: string): SseEvent[] {
  return text.split("\n\n").flatMap((frame) => {
    const field = (name: string) =>
      frame
        .split("\n")
        .filter((line) => line.startsWith(`${name}: `))
        .map((line) => line.slice(name.length + 2));
    const data = field("data");
    return data.length === 0 ? [] : [{ event: field("event")[0], data: data.join("\n") }];
  });
}

/** The `data` of each event as JSON; `[DONE]` is left out. */
export function readEvents(text: string): Record<string, unknown>[] {
  return readSse(text)
    .filter(({ data }) => data !== "[DONE]")
    .map(({ data }) => JSON.parse(data));
}
