/** Wakes all who wait for the next of a series of events. */
export class Notifier {
  #resolve: () => void = () => undefined;
  #next = this.#create();

  /** Resolves at the next event. Take it before what the event may have changed is read, or the event may be missed. */
  get next(): Promise<void> {
    return this.#next;
  }

  notify(): void {
    const resolve = this.#resolve;
    this.#next = this.#create();
    resolve();
  }

  #create(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}
