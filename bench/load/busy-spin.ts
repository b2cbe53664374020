/**
 * Keeps this process from sleeping while it loads a server. To wake a sleeping
 * process costs the one that wakes it, several microseconds on a virtual
 * machine, and the more the slower the server is: the load sleeps while it
 * waits. Awake, it charges all servers alike. Returns what ends it.
 */
export function keepAwake(): () => void {
  let isOver = false;
  const turn = () => {
    if (!isOver) setImmediate(turn);
  };
  turn();
  return () => {
    isOver = true;
  };
}
