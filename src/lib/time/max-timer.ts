/** The longest delay of a platform timer, in ms (24.8 days); a longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
