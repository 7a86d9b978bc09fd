/** What a test failed with that is tried once more: vitest itself tells the failures of the last try alone. */
import { afterEach } from "vitest";
import "./markdown-as-text.ts";

afterEach(({ task }) => {
  const { errors = [], retryCount = 0 } = task.result ?? {};
  const most = typeof task.retry === "number" ? task.retry : (task.retry?.count ?? 0);
  if (retryCount >= most) return;
  for (const { message, stack } of errors)
    console.error(`"${task.name}" is tried again after: ${stack ?? message}`);
});
