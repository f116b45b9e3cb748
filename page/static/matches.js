// The numbers of the exchanges that match, as runs: 100,000 in a row take no more than two numbers.
export class Matches {
  constructor() {
    this.runs = [];
    this.starts = [];
    this.length = 0;
  }

  add(runs) {
    for (const [from, to] of runs) {
      const last = this.runs.at(-1);
      if (last && last[1] + 1 === from) last[1] = to;
      else {
        this.runs.push([from, to]);
        this.starts.push(this.length);
      }
      this.length += to - from + 1;
    }
  }

  // forget what is before that number
  drop(first) {
    let gone = 0;
    while (this.runs.length && this.runs[0][0] < first) {
      const run = this.runs[0], until = Math.min(first, run[1] + 1);
      gone += until - run[0];
      run[0] = until;
      if (run[0] > run[1]) this.runs.shift();
    }
    if (gone) {
      let at = 0;
      this.starts = this.runs.map(([from, to]) => (at += to - from + 1) - (to - from + 1));
      this.length = at;
    }
  }

  has(number) {
    return this.at(this.place(number)) === number;
  }

  // which number stands at a place, or undefined
  at(place) {
    if (place < 0 || place >= this.length) return undefined;
    let low = 0, high = this.runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return this.runs[low][0] + place - this.starts[low];
  }

  // where a number stands, or would: the place of the first that is not smaller
  place(number) {
    let low = 0, high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.runs[middle][1] < number) low = middle + 1;
      else high = middle;
    }
    if (low === this.runs.length) return this.length;
    return this.starts[low] + Math.max(0, number - this.runs[low][0]);
  }
}

// The numbers in another order than that in which the exchanges came
export class Ordered {
  constructor(numbers) {
    this.numbers = numbers;
    this.places = new Map(numbers.map((number, place) => [number, place]));
    this.length = numbers.length;
  }

  has(number) {
    return this.places.has(number);
  }

  at(place) {
    return this.numbers[place];
  }

  place(number) {
    return this.places.get(number) ?? 0;
  }
}
