/** Reads a request body whole, up to a bound. */
import type { IncomingMessage } from "node:http";

export type Body =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "too large" }
  /** The client went before the body was complete. */
  | { readonly kind: "gone" };

/** What comes after the bound is read and dropped, so that the client can still read its refusal. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  const done = Promise.withResolvers<Body>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on("end", () => {
    if (bytes > maxBytes) done.resolve({ kind: "too large" });
    else done.resolve({ kind: "whole", text: Buffer.concat(chunks).toString("utf8") });
  });
  request.on("error", () => done.resolve({ kind: "gone" }));
  request.on("close", () => done.resolve({ kind: "gone" }));
  return done.promise;
}
