// SPDX-License-Identifier: MIT
// Against brute force: pairs, events and questions of random lives, and what bad input answers.
use cleave::*;
use std::collections::BTreeSet;

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }

    fn float(&mut self, most: f32) -> f32 {
        self.next(1 << 24) as f32 / (1 << 24) as f32 * most
    }

    fn aabb(&mut self) -> Aabb {
        let lower = [self.float(10.), self.float(10.), self.float(10.)];
        Aabb::new(lower, [lower[0] + self.float(2.), lower[1] + self.float(2.), lower[2] + 1.])
    }
}

fn touch(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|k| a.lower()[k] <= b.upper()[k] && b.lower()[k] <= a.upper()[k])
}

fn ordered(a: Id, b: Id) -> (Id, Id) {
    if a.index < b.index {
        (a, b)
    } else {
        (b, a)
    }
}

#[test]
fn random_lives_are_those_of_brute_force() {
    for seed in 1..=8 {
        let mut random = Random(seed);
        let options = Options { events: true, workers: 1 + seed as u32 % 3, ..Options::default() };
        let mut space = Space::new(&options).unwrap();
        let mut all: Vec<(Id, Aabb)> = Vec::new();
        let mut last: BTreeSet<(Id, Id)> = BTreeSet::new();
        for step in 0..60 {
            let fresh: Vec<Aabb> = (0..if step == 0 { 200 } else { random.next(4) }).map(|_| random.aabb()).collect();
            all.extend(space.add(&fresh).unwrap().into_iter().zip(fresh));
            let mut moved: Vec<(Id, Aabb)> = Vec::new();
            for one in all.iter_mut() {
                if random.next(3) == 0 {
                    one.1 = random.aabb();
                    moved.push(*one);
                }
            }
            let (ids, boxes): (Vec<Id>, Vec<Aabb>) = moved.into_iter().unzip();
            space.move_to(&ids, &boxes).unwrap();
            if random.next(2) == 0 {
                let at = random.next(all.len() as u64) as usize;
                space.remove(&[all.swap_remove(at).0]).unwrap();
            }
            if random.next(4) == 0 {
                all.sort_by_key(|one| one.0.index);
                all.iter_mut().for_each(|one| one.1 = random.aabb());
                let boxes: Vec<Aabb> = all.iter().map(|one| one.1).collect();
                space.move_all(&boxes).unwrap();
                assert!(space.move_all(&boxes[1..]).unwrap_err().text.contains("boxes for all objects"));
            }
            space.update().unwrap();
            let mut expected = BTreeSet::new();
            for i in 0..all.len() {
                for j in 0..i {
                    if touch(&all[i].1, &all[j].1) {
                        expected.insert(ordered(all[i].0, all[j].0));
                    }
                }
            }
            let now: BTreeSet<(Id, Id)> =
                space.pairs().iter().map(|p| ordered(space.id_at(p.a).unwrap(), space.id_at(p.b).unwrap())).collect();
            assert_eq!(now.len(), space.pairs().len());
            assert_eq!(now, expected);
            let begun: BTreeSet<(Id, Id)> = space.begun().iter().map(|p| ordered(p.a, p.b)).collect();
            let ended: BTreeSet<(Id, Id)> = space.ended().iter().map(|p| ordered(p.a, p.b)).collect();
            assert_eq!(begun, now.difference(&last).copied().collect());
            assert_eq!(ended, last.difference(&now).copied().collect());
            last = now;
            // Questions, several at once.
            let asked: Vec<Aabb> = (0..5).map(|_| random.aabb()).collect();
            let hits = space.query_all(&asked, None).unwrap();
            for (i, question) in asked.iter().enumerate() {
                let found: BTreeSet<u32> = hits.of(i).iter().map(|h| h.index).collect();
                let expected: BTreeSet<u32> = all.iter().filter(|o| touch(&o.1, question)).map(|o| o.0.index).collect();
                assert_eq!(found, expected);
            }
        }
        assert_eq!(space.len(), all.len());
    }
}

#[test]
fn rays_nearest_and_filters_answer() {
    let mut space = Space::new(&Options::default()).unwrap();
    let boxes: Vec<Aabb> = (0..10).map(|i| Aabb::new([2. * i as f32, 0., 0.], [2. * i as f32 + 1., 1., 1.])).collect();
    let ids = space.add(&boxes).unwrap();
    space.update().unwrap();
    assert!(space.pairs().is_empty());
    let ray = Ray::new([-1., 0.5, 0.5], [1., 0., 0.], f32::INFINITY);
    let first = space.query_closest(&[ray], None).unwrap()[0].unwrap();
    assert_eq!((first.index, first.t), (ids[0].index, 1.));
    assert_eq!(space.query_all(&[ray], None).unwrap().all().len(), 10);
    assert!(space.query_any(&[Ray::new([0., 5., 5.], [1., 0., 0.], 1.)], None).unwrap()[0].is_none());
    let cast = BoxCast::new(Aabb::new([-2., 2., 0.], [-1., 3., 1.]), [1., -1., 0.], 10.);
    assert!(space.query_closest(&[cast], None).unwrap()[0].is_some());
    let near = space.query_nearest(&[Vec3::from([0.5, 3., 0.5])], 2, f32::INFINITY, None).unwrap();
    assert_eq!(near[0].iter().map(|h| h.index).collect::<Vec<_>>(), vec![0, 1]);
    assert_eq!(near[0][0].t, 2.);
    assert_eq!(space.query_nearest(&[Vec3::from([0.; 3])], 3, 0.5, None).unwrap()[0].len(), 1);
    assert_eq!(space.query_all(&[Sphere::new([1.5, 0.5, 0.5], 0.5)], None).unwrap().all().len(), 2);
    space.set_filter(&ids[..1], &[Filter { category: 2, mask: u64::MAX, group: 0 }]).unwrap();
    let only_twos = Filter { category: 1, mask: 2, group: 0 };
    assert_eq!(space.query_all(&[ray], Some(&only_twos)).unwrap().all().len(), 1);
    space.set_user_data(&ids, &(0..10).collect::<Vec<u64>>()).unwrap();
    assert_eq!(space.user_data(ids[7]), Some(7));
    space.set_margin(&ids, &[0.5; 10]).unwrap();
    space.update().unwrap();
    assert_eq!(space.pairs().len(), 9); // but for filters, margins meet
    space.set_motion(&ids[..1], &[Vec3::from([100., 0., 0.])]).unwrap();
    space.update().unwrap();
    assert_eq!(space.pairs().len(), 17);
    space.clear();
    assert!(space.is_empty() && space.pairs().is_empty() && !space.contains(ids[0]));
}

#[test]
fn bad_input_says_where_and_changes_nothing() {
    let mut space = Space::new(&Options::default()).unwrap();
    let good = Aabb::new([0.; 3], [1.; 3]);
    let error = space.add(&[good, Aabb::new([f32::NAN; 3], [1.; 3])]).unwrap_err();
    assert_eq!(error.position, Some(1));
    assert!(error.to_string().contains("entry 1"), "{}", error);
    assert!(space.is_empty());
    let ids = space.add(&[good, good]).unwrap();
    assert_eq!(space.remove(&[ids[0], ids[0]]).unwrap_err().position, Some(1));
    assert!(space.move_to(&ids, &[good]).unwrap_err().text.contains("2 ids but 1 values"));
    space.remove(&ids[..1]).unwrap();
    assert!(space.move_to(&ids[..1], &[good]).is_err() && space.aabb(ids[0]).is_none() && space.aabb(ids[1]) == Some(good));
    space.update().unwrap();
    assert_eq!(space.query_all(&[Ray::new([f32::NAN; 3], [1.; 3], 1.)], None).unwrap_err().position, Some(0));
    assert!(Space::new(&Options { method: Some("no such".into()), ..Options::default() }).is_err());
    assert!(Space::new(&Options { margin: -1., ..Options::default() }).is_err());
    let mut few = Space::new(&Options { max_pairs: 1, ..Options::default() }).unwrap();
    few.add(&[good, good, good]).unwrap();
    assert!(few.update().is_err() && few.pairs().is_empty());
    assert!(!version().is_empty());
}

#[test]
fn many_threads_may_ask_at_once() {
    let mut space = Space::new(&Options { workers: 2, ..Options::default() }).unwrap();
    let mut random = Random(5);
    let boxes: Vec<Aabb> = (0..2000).map(|_| random.aabb()).collect();
    space.add(&boxes).unwrap();
    space.update().unwrap();
    let expected = space.query_all(&boxes[..300], None).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(space.query_all(&boxes[..300], None).unwrap(), expected));
        }
    });
}
