// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! Sorts made-up numbers into bins, nearly all of them into one.

#[inline(never)]
fn bin_of(value: u32) -> usize {
    if value % 1000 == 999 {
        3
    } else if value % 64 == 1 {
        2
    } else if value & 1 == 0 {
        1
    } else {
        0
    }
}

fn count(bins: &mut [u64; 4], rounds: u32) {
    let mut state = 12345u32;
    for _ in 0..rounds {
        state = state.wrapping_mul(1103515245).wrapping_add(12345);
        bins[bin_of(state >> 16)] += 1;
    }
}

fn main() {
    let mut bins = [0; 4];
    count(&mut bins, 10_000_000);
    println!("{:?}", bins);
}
