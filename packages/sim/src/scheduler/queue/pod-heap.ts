/** A binary heap of waiting pods, each of which knows its place: it can be taken out of the middle. */
import type { QueuedPod } from "./queued-pod.ts";

export class PodHeap {
  readonly #pods: QueuedPod[] = [];
  readonly #goesBefore: (a: QueuedPod, b: QueuedPod) => boolean;

  constructor(goesBefore: (a: QueuedPod, b: QueuedPod) => boolean) {
    this.#goesBefore = goesBefore;
  }

  get size(): number {
    return this.#pods.length;
  }

  peek(): QueuedPod | undefined {
    return this.#pods[0];
  }

  push(pod: QueuedPod): void {
    pod.index = this.#pods.length;
    this.#pods.push(pod);
    this.#rise(pod);
  }

  pop(): QueuedPod | undefined {
    const first = this.#pods[0];
    if (first) this.remove(first);
    return first;
  }

  remove(pod: QueuedPod): boolean {
    if (this.#pods[pod.index] !== pod) return false;
    const last = this.#pods.pop() as QueuedPod;
    if (last !== pod) {
      this.#place(last, pod.index);
      this.#rise(last);
      this.#sink(last);
    }
    pod.index = -1;
    return true;
  }

  #rise(pod: QueuedPod): void {
    while (pod.index > 0) {
      const parent = this.#pods[(pod.index - 1) >> 1] as QueuedPod;
      if (!this.#goesBefore(pod, parent)) return;
      this.#swap(pod, parent);
    }
  }

  #sink(pod: QueuedPod): void {
    for (;;) {
      const [left, right] = [this.#pods[2 * pod.index + 1], this.#pods[2 * pod.index + 2]];
      const child = right && left && this.#goesBefore(right, left) ? right : left;
      if (!child || !this.#goesBefore(child, pod)) return;
      this.#swap(pod, child);
    }
  }

  #swap(a: QueuedPod, b: QueuedPod): void {
    const [left, right] = [a.index, b.index];
    this.#place(a, right);
    this.#place(b, left);
  }

  #place(pod: QueuedPod, index: number): void {
    this.#pods[index] = pod;
    pod.index = index;
  }
}
